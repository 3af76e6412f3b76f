"""Secrets of many forms, made when they are asked for, so that none stands in a file."""

import base64
import json
import random
import re
import string
import tomllib
from pathlib import Path
from urllib.parse import quote

FORMS = tomllib.loads((Path(__file__).parents[1] / "data/attacks/secrets.toml").read_text("utf-8"))
KINDS = ("token", "key", "url", "assignment", "command", "encoded", "prose")
_ALPHABETS = {
    "h": "0123456789abcdef",
    "H": "0123456789ABCDEF",
    "a": string.ascii_lowercase + string.digits,
    "A": string.ascii_uppercase + "234567",
    "m": string.ascii_letters + string.digits,
    "b": string.ascii_letters + string.digits + "+/",
    "u": string.ascii_letters + string.digits + "-_",
    "d": string.digits,
    "w": string.ascii_lowercase,
}


def made(form, chance=None):
    """Fill in what is made up: without a source of chance the same for a form every time."""
    chance = chance or random.Random(form)
    return re.sub(
        r"\{([hHaAmbudw])(\d+)\}",
        lambda found: _random(chance, _ALPHABETS[found[1]], int(found[2])),
        form,
    )


def planted(seed=0):
    """Every secret with its kind: the same ones for a seed."""
    chance = random.Random(seed)
    for kind in KINDS:
        for form in FORMS[kind]:
            text = _encoded(form, chance) if kind == "encoded" else made(form, chance)
            yield kind, form, f"Found while mending shop/export.py:\n{text}\nwhich is how it works."


def innocent():
    """Lessons that hold no secret."""
    folder = Path(__file__).parents[1] / "data/lessons"
    texts = []
    for file in ("test", "blind", "short", "authors"):
        for line in (folder / f"{file}.jsonl").read_text("utf-8").splitlines():
            document = json.loads(line)
            candidate = document.get("candidate", document)
            texts.append("\n".join(one for one in candidate.values() if isinstance(one, str)))
    return texts


def _random(chance, alphabet, length):
    """Letters as a generator makes them: of a mixed alphabet with each sort among them."""
    text = [chance.choice(alphabet) for _ in range(length)]
    if len(alphabet) > 60 and length > 5:
        text[1:4] = [chance.choice(string.ascii_uppercase), chance.choice(string.digits), "q"]
    return "".join(text)


def _encoded(form, chance):
    token = made("ghp_{m36}", chance)
    return {
        "base64 of ghp_": base64.b64encode(f"token {token}".encode()).decode(),
        "percent of ghp_": quote(token).replace("_", "%5F"),
        "entities of ghp_": token.replace("_", "&#95;"),
        "full width of ghp_": "".join(chr(ord(one) + 0xFEE0) for one in token),
        "zero width in ghp_": f"{token[:9]}\u200b{token[9:]}",
        "escaped ghp_": token.replace("_", "\\_"),
        "split by a line end": f"{token[:20]}\n{token[20:]}",
        "joined by plus": f'"{token[:20]}" + "{token[20:]}"',
        "lower case AKIA": made("AKIA{A15}7", chance).lower(),
        "in quotes of JSON": f'{{"a": "{token}"}}',
        "in a URL's query": f"https://api.internal/?t={token}",
    }[form]
