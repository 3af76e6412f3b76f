"""Tables with a line a case, in which `\\n` is a line break and `\\e` the escape sign."""

import csv
from pathlib import Path

DATA = Path(__file__).parents[1] / "data"


def rows(name):
    with (DATA / f"{name}.tsv").open(encoding="utf-8", newline="") as stream:
        table = [*csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)]
    return [[unescaped(cell) for cell in row] for row in table[1:]]


def unescaped(text):
    parts = (
        part.replace("\\n", "\n").replace("\\r", "\r").replace("\\e", "\x1b")
        for part in text.split("\\\\")
    )
    return "\\".join(parts)
