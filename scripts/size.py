"""Print how much code there is, and fail where it is more than `tests/size.toml` allows.

Lines are all lines; code lines leave out blanks, comments and docstrings.
"""

import ast
import io
import sys
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from attrs import astuple, frozen

ROOT: Final = Path(__file__).resolve().parents[1]
CEILINGS: Final = ROOT / "tests" / "size.toml"
NO_CODE: Final = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENCODING, tokenize.ENDMARKER,
}  # fmt: skip


@frozen
class Size:
    """How much code a folder holds."""

    lines: int = 0
    code: int = 0
    modules: int = 0

    def __add__(self, other: "Size") -> "Size":
        """Count two folders together."""
        return Size(*map(sum, zip(astuple(self), astuple(other), strict=True)))


def main() -> int:
    """Print the table.

    Returns:
        1 when something is above its ceiling, else 0.
    """
    ceilings = tomllib.loads(CEILINGS.read_text(encoding="utf-8"))
    sizes = {name: _measure(folder) for name, folder in _folders()}
    for kind in ("source", "tests"):
        own = (size for name, size in sizes.items() if name.endswith(f" {kind}"))
        sizes[f"all {kind}"] = sum(own, Size())
    faults = []
    print(f"{'':32}{'lines':>8}{'code':>8}{'modules':>9}{'ceiling':>9}")
    for name, size in sizes.items():
        ceiling = ceilings.get(name)
        print(f"{name:32}{size.lines:8}{size.code:8}{size.modules:9}{ceiling or '':>9}")
        if ceiling is None:
            faults.append(f"{name} has no ceiling")
        elif size.lines > ceiling:
            faults.append(f"{name}: {size.lines} lines are {size.lines - ceiling} too many")
    for fault in faults:
        print(f"size: {fault}", file=sys.stderr)
    return 1 if faults else 0


def _folders() -> Iterator[tuple[str, Path]]:
    for package in sorted(ROOT.glob("grove-*/")):
        yield f"{package.name} source", package / "src"
        yield f"{package.name} tests", package / "tests"
    yield "shared tests", ROOT / "tests"


def _measure(folder: Path) -> Size:
    files = [path for path in folder.rglob("*.py") if "__pycache__" not in path.parts]
    return sum((_size_of(path.read_text(encoding="utf-8")) for path in files), Size())


def _size_of(text: str) -> Size:
    return Size(len(text.splitlines()), len(_code_lines(text) - _docstring_lines(text)), 1)


def _code_lines(text: str) -> set[int]:
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return lines


def _docstring_lines(text: str) -> set[int]:
    lines: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if ast.get_docstring(node, clean=False) is not None:
            first = node.body[0]
            lines.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return lines


if __name__ == "__main__":
    raise SystemExit(main())
