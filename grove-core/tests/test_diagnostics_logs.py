"""Faults leave lines, and leaving them never fails."""

from datetime import UTC, datetime

import pytest

from grove_core.storage.diagnostics import ROTATION_BYTES, Diagnostics
from grove_core.storage.paths import Paths

NOW = datetime(2026, 2, 6, 10, 0, tzinfo=UTC)


@pytest.fixture
def paths(tmp_path):
    return Paths(tmp_path / "home")


@pytest.fixture
def diagnostics(paths):
    return Diagnostics(paths, lambda: NOW)


def raised(error: BaseException) -> BaseException:
    try:
        raise error
    except BaseException as caught:
        return caught


def test_line_of_the_log(diagnostics, paths):
    diagnostics.log("warning", "config is odd", session="abc", hook="stop", file=None)
    diagnostics.log("error", "two")
    assert paths.log_file.read_text() == (
        "2026-02-06T10:00:00Z WARNING session=abc hook=stop config is odd\n"
        "2026-02-06T10:00:00Z ERROR two\n"
    )
    assert paths.log_file.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "hostile",
    [
        "a\r\n2026-02-06T10:00:00Z ERROR forged",
        "\x1b[31mred\x07",
        "a\u2028b\x85c",
        "\x00\x08\ud800",
    ],
)
def test_text_of_a_payload_stays_one_plain_line(diagnostics, paths, hostile):
    diagnostics.log("warning", hostile, session=hostile)
    diagnostics.crash(raised(ValueError(hostile)), hostile, hostile)
    text = paths.log_file.read_text()
    assert len(text.splitlines()) == 1
    assert text.removesuffix("\n").isprintable()
    crash = paths.crash_log.read_text()
    heads = [line for line in crash.splitlines() if not line.startswith("  ")]
    assert len(heads) == 1
    assert heads[0].isprintable()


def test_crash_leaves_head_and_traceback(diagnostics, paths):
    diagnostics.crash(raised(ValueError("it broke")), "abc", "stop")
    text = paths.crash_log.read_text()
    head = "2026-02-06T10:00:00Z session=abc hook=stop error=ValueError: it broke\n"
    assert text.startswith(head)
    assert "Traceback" in text
    assert paths.crash_log.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("name", ["log_file", "crash_log"])
def test_rotation_keeps_one_older_file(diagnostics, paths, name):
    log = getattr(paths, name)
    log.parent.mkdir()
    for generation in ("first", "second", "third"):
        log.write_text(generation.ljust(ROTATION_BYTES - 10, "x"))
        if name == "log_file":
            diagnostics.log("info", f"after {generation}")
        else:
            diagnostics.crash(raised(ValueError(f"after {generation}")))
        assert f"after {generation}" in log.read_text()
        assert log.stat().st_size < 10_000
        assert log.with_name(f"{log.name}.1").read_text().startswith(generation)
    assert len(list(log.parent.iterdir())) == 2
