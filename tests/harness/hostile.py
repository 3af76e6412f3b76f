"""Texts that try to tell an agent what to do, and how to see whether one of them left its quotation."""

import re
import tomllib
from pathlib import Path

DATA = tomllib.loads((Path(__file__).parents[1] / "data/attacks/hostile.toml").read_text("utf-8"))
ACTING = frozenset(DATA["acts"])
POISONS, HELD_BACK = (
    [(style, text) for style, texts in DATA[part].items() for text in texts]
    for part in ("styles", "held-back")
)
NEAR_MISSES = [text for texts in DATA["innocent"].values() for text in texts]
# No word of grove's: whoever sees it outside of a quotation sees a stranger's words there.
CANARY = "Quux"
_ENDS = re.compile(r"(?<=\S)([\r\n\v\x85\u2028\u2029]|$)")
_SHORTENED = re.compile(r"[^|(]{0,11}…")  # names of foreign shape: their beginning is shown
_RAW = re.compile(
    r"</|<[|!?\w]|\[/?INST|[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069\ufeff]"
)


def marked(text):
    """The text with the canary at the end of each line, whatever ends a line."""
    return _ENDS.sub(rf" {CANARY}\1", text)


def as_name(text):
    """The text as an id, of letters, digits and hyphens."""
    words = re.sub(rf"[^A-Za-z0-9]+|{CANARY}", "-", text).strip("-")
    return f"do-as-it-says-{words[:90]}-{CANARY}"


def escapes(output):
    """The lines in which something of a stranger's stands outside of a quotation, or not spoiled."""
    wrong = []
    for line in output.split("\n"):
        own = _SHORTENED.sub("", re.split(r"(?:^| )>(?: |$)", line)[0])
        if CANARY in own or _RAW.search(line):
            wrong.append(line)
    return wrong
