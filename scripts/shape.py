"""Print the shape of the code, and fail where it is beyond the limits in `tests/size.toml`.

Of each package: median, 90th percentile and longest of functions and modules in lines, modules
under 40 lines, and the share of private functions that one other function calls.
"""

import ast
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from attrs import frozen

ROOT: Final = Path(__file__).resolve().parents[1]
LIMITS: Final = ROOT / "tests" / "size.toml"
_SMALL_MODULE: Final = 40
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


@frozen
class Shape:
    """How a package is divided; lengths are in lines."""

    functions: Sequence[int]
    modules: Sequence[int]
    called_once: int
    private: int

    @property
    def figures(self) -> dict[str, int]:
        """The figures that have limits."""
        return {
            "function median": _rank(self.functions, 0.5),
            "function longest": max(self.functions, default=0),
            "module p90": _rank(self.modules, 0.9),
            "small modules": sum(one < _SMALL_MODULE for one in self.modules),
            "called once %": round(100 * self.called_once / self.private) if self.private else 0,
        }


def main() -> int:
    """Print the table.

    Returns:
        1 when a figure of core is beyond its limit, else 0.
    """
    limits = tomllib.loads(LIMITS.read_text(encoding="utf-8")).get("shape", {})
    faults = []
    for package in sorted(ROOT.glob("grove-*/src/*/")):
        figures = _shape_of(package).figures
        print(f"{package.name:28}" + "  ".join(f"{name} {one}" for name, one in figures.items()))
        if package.name == "grove_core":
            faults = [
                f"{name}: {figures[name]} > {most}"
                for name, most in limits.items()
                if figures[name] > most
            ]
    for fault in faults:
        print(f"shape: grove_core: {fault}", file=sys.stderr)
    return 1 if faults else 0


def _shape_of(package: Path) -> Shape:
    texts = [path.read_text(encoding="utf-8") for path in package.rglob("*.py")]
    trees = [ast.parse(text) for text in texts]
    functions = [node for tree in trees for node in ast.walk(tree) if isinstance(node, _FUNCTIONS)]
    calls = [one for tree in trees for one in _calls_of_private_functions(tree)]
    return Shape(
        functions=[(node.end_lineno or node.lineno) - node.lineno + 1 for node in functions],
        # A package's door that only says what is inside is no module of its own.
        modules=[length for text in texts if (length := len(text.splitlines())) > 1],
        called_once=calls.count(1),
        private=len(calls),
    )


def _calls_of_private_functions(tree: ast.Module) -> Iterator[int]:
    """Count how often each private function is used in its own module."""
    uses = Counter(_names_used(tree))
    for node in ast.walk(tree):
        if isinstance(node, _FUNCTIONS) and _is_private(node.name):
            yield uses[node.name]


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def _names_used(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


def _rank(lengths: Sequence[int], share: float) -> int:
    return sorted(lengths)[int(share * (len(lengths) - 1))] if lengths else 0


if __name__ == "__main__":
    raise SystemExit(main())
