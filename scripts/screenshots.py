"""Take the documentation's pictures of terminals: what ``grove`` really prints, as SVG files.

Every picture is taken of the installed program, on a terminal of its own, in a scratch project.
Ids, days and the machine's own numbers are replaced by fixed ones, so that a picture changes only
when what is printed does. ``--check`` writes nothing and fails when one of them shows something
else.
"""

import argparse
import io
import os
import pty
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from difflib import unified_diff
from pathlib import Path
from typing import Final, NamedTuple
from xml.etree import ElementTree as ET

from rich.console import Console  # noqa: TID253 - no hook runs this
from rich.terminal_theme import TerminalTheme  # noqa: TID253
from rich.text import Text  # noqa: TID253
from screenshot_project import ScratchProject

PICTURES: Final = Path(__file__).resolve().parent.parent / "docs" / "images"
COLUMNS: Final = 96

THEME: Final = TerminalTheme(
    (24, 33, 28),
    (222, 231, 224),
    [
        (72, 86, 78),
        (240, 128, 112),
        (118, 206, 146),
        (229, 192, 104),
        (122, 176, 232),
        (206, 150, 226),
        (108, 204, 204),
        (222, 231, 224),
    ],
    [
        (128, 146, 135),
        (255, 150, 136),
        (146, 228, 172),
        (246, 212, 132),
        (150, 198, 250),
        (224, 176, 242),
        (136, 226, 226),
        (255, 255, 255),
    ],
)

TEMPLATE: Final = """\
<svg viewBox="0 0 {width} {height}" width="{width}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; \
font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font: bold 18px sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
"""Of rich's own, without a font that would be loaded from another host."""

FIXED: Final = (
    (r"cl_(?!20260206)\d{8}_[a-z0-9]{6}", "cl_20260206_k3f9a2"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "2026-02-06T10:00:00Z"),
    (r"as of \d{4}-\d\d-\d\d", "as of 2026-02-06"),
    (r"Python 3\.\d+\.\d+ \(.*?\)", "Python 3.12.4 (/home/you/.local/bin/python3)"),
    (r"\S*/bin/grove\b", "/home/you/.local/bin/grove"),
    (r"\d+ checks", "32 checks"),
)
"""What differs from run to run, and what stands for it."""


class Picture(NamedTuple):
    """One of the pictures.

    Attributes:
        title: What stands in the terminal's frame.
        take: Runs the program in a fresh project; gives all that the terminal shows.
    """

    title: str
    take: Callable[[ScratchProject], str]


def main() -> int:
    """Take all pictures, or compare what they show.

    Returns:
        The exit code: 0 when the pictures are as they should be.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    check = parser.parse_args().check
    shown = {name: taken(picture) for name, picture in SHOWN.items()}
    stale = [name for name, text in shown.items() if not _is_fresh(name, text, check=check)]
    surplus = sorted(path.name for path in PICTURES.glob("*.svg") if path.stem not in SHOWN)
    if surplus:
        print(f"of no picture: {', '.join(surplus)}", file=sys.stderr)
    if stale and check:
        print(f"stale: {', '.join(stale)}; run scripts/screenshots.py", file=sys.stderr)
    return 1 if surplus or (stale and check) else 0


def _is_fresh(name: str, text: str, *, check: bool) -> bool:
    path = PICTURES / f"{name}.svg"
    drawn = svg_of(name, SHOWN[name].title, text)
    before, after = text_of(path.read_text()) if path.exists() else "", text_of(drawn)
    if before == after:
        return True
    if check:
        lines = unified_diff(
            before.splitlines(), after.splitlines(), path.name, "grove", lineterm=""
        )
        print("\n".join(lines))
    else:
        path.write_text(drawn)
        print(f"wrote {path.name}")
    return False


def taken(picture: Picture) -> str:
    """Run the program for a picture, and replace what differs from run to run."""
    with tempfile.TemporaryDirectory(prefix="grove-pictures-") as folder:
        text = picture.take(ScratchProject(Path(folder), run_on_terminal))
        text = text.replace(folder, "").replace("\r\n", "\n")
    text = text.replace(os.fspath(Path(sys.executable).parent), "/home/you/.local/bin")
    for pattern, fixed in FIXED:
        text = re.sub(pattern, fixed, text)
    return text.rstrip("\n")


def run_on_terminal(
    words: Sequence[str], folder: Path, environment: dict[str, str], stdin: str
) -> str:
    """Run a program whose output goes to a terminal.

    Returns:
        What the terminal has got, with the codes for colours.
    """
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        words,
        cwd=folder,
        env={**environment, "TERM": "xterm-256color", "COLUMNS": str(COLUMNS), "LINES": "50"},
        stdin=subprocess.PIPE,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    assert process.stdin is not None
    with process.stdin as pipe:
        pipe.write(stdin.encode())
    got = b""
    while data := _read(ours):
        got += data
    os.close(ours)
    process.wait()
    return got.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # how Linux says that nobody holds the other end any more
        return b""


def svg_of(name: str, title: str, text: str) -> str:
    """Draw what a terminal shows."""
    console = Console(
        record=True,
        width=COLUMNS,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
    )
    console.print(Text.from_ansi(text), highlight=False)
    drawn = console.export_svg(title=title, theme=THEME, code_format=TEMPLATE, unique_id=name)
    return "\n".join(line.strip() for line in drawn.splitlines() if line.strip()) + "\n"


def text_of(svg: str) -> str:
    """Take the text out of a picture: its title, then line by line."""
    lines: dict[float, str] = {}
    for element in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"):
        is_title = element.get("class", "").endswith("-title")
        height = 0 if is_title else float(element.get("y", "0"))
        lines[height] = lines.get(height, "") + (element.text or "").replace("\xa0", " ")
    return "\n".join(line.rstrip() for _, line in sorted(lines.items())) + "\n"


SHOWN: Final[dict[str, Picture]] = {
    "demo": Picture("grove, once through", ScratchProject.demo),
    "stats": Picture("grove stats", ScratchProject.stats),
}


if __name__ == "__main__":
    sys.exit(main())
