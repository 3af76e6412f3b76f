"""The keys that the page of each command says its JSON document has."""

import re
from functools import cache

from grove_core.cli.schema import sections

EVERYWHERE = {"error", "warnings[]"}  # as the page's introduction says
PACKAGES = ("grove_core", "grove_eval", "grove_backend_mcp", "grove_backend_postgres")


@cache
def documented():
    """The keys of each section; a list of learnings has the keys of `grove show`."""
    found = {
        title: set(re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE))
        for package in PACKAGES
        for title, text in sections(package).items()
    }
    past = {key for key in found["grove show"] if key.startswith(("superseded_by", "history"))}
    decay = {key for key in found["grove show"] if key.startswith("decay")}
    listed = found["grove show"] - past
    found["grove list"] |= {f"learnings[].{key}" for key in listed}
    found["grove search"] |= {f"results[].{key}" for key in listed - decay}
    found["grove review"] |= {f"learnings[].{key}" for key in listed - decay}
    found["grove maintain list"] |= {f"explained[].{key}" for key in decay}
    curated = [key for key in found["grove maintain"] if key.startswith("going_stale[].")]
    for name in ("archived", "corrected", "never_used"):
        found["grove maintain"] |= {key.replace("going_stale", name, 1) for key in curated}
    session = {key for key in found["grove status"] if key.startswith("session.")}
    found["grove status"] |= {f"live_sessions[].{key.removeprefix('session.')}" for key in session}
    tickets = {key for key in session if key.startswith(("session.ticket.", "session.closed[]."))}
    found["grove sessions"] |= {key.replace("session.", "sessions[].", 1) for key in tickets}
    retrieval = {key for key in found["grove why"] if key.startswith("retrieval.")}
    found["grove debug"] |= {key.replace("retrieval", "retrievals[]", 1) for key in retrieval}
    pending = {key for key in found["grove sessions"] if key.startswith("sessions[].pending[].")}
    places = [("grove debug", ""), ("grove clean", "kept[]."), ("grove clean", "deleted[].")]
    for title, prefix in places:
        found[title] |= {key.replace("sessions[].", prefix, 1) for key in pending}
    found["grove maintain list"] |= found["grove maintain"]
    for word in ("decay", "restore", "supersede"):
        found[f"grove maintain {word}"] = found["grove maintain archive"]
    return found


def keys_of(value, known, prefix=""):
    """The keys of a document, written as the page writes them."""
    found = set()
    for name, child in value.items():
        key = f"{prefix}{name}"
        # The value of a setting may be of any type, which its plugin says.
        if name in ("value", "default"):
            found.add(key)
        elif f"{key}{{}}" in known:
            named = f"{key}{{}}"
            found.add(named)
            if any(other.startswith(f"{named}.") for other in known):
                for item in child.values():
                    found |= keys_of(item, known, f"{named}.")
        elif isinstance(child, list):
            found.add(f"{key}[]")
            for item in child:
                if isinstance(item, dict):
                    found |= keys_of(item, known, f"{key}[].")
        else:
            found.add(key)
            if isinstance(child, dict):
                found |= keys_of(child, known, f"{key}.")
    return found


def undocumented(words, document):
    """The keys that a call of grove has printed, and no page says so; a refusal says why."""
    if set(document) == {"error"} or "--schema" in words:
        return set()
    said = [word for at, word in enumerate(words) if word != "-C" and words[at - 1] != "-C"]
    fitting = []
    for title in documented():
        names = [one for one in title.split()[1:] if not one.startswith("--")]
        options = {one for one in title.split() if one.startswith("--")}
        if said[: len(names)] == names and options <= set(said):
            fitting.append((len(names), len(options), title))
    # Commands of plugins need no page, and what is short for another command has no keys of its own.
    known = documented()[max(fitting)[-1]] if fitting else set()
    return keys_of(document, known) - known - EVERYWHERE if known else set()
