"""Faults leave lines, and leaving them never fails."""

import threading
from datetime import UTC, datetime

import pytest

from grove_core.diagnostics import ROTATION_BYTES, Diagnostics
from grove_core.paths import Paths

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
    assert paths.log_file.read_text() == (
        "2026-02-06T10:00:00Z WARNING session=abc hook=stop config is odd\n"
    )


def test_lines_follow_each_other(diagnostics, paths):
    diagnostics.log("info", "one")
    diagnostics.log("error", "two")
    assert [line.split()[1:] for line in paths.log_file.read_text().splitlines()] == [
        ["INFO", "one"],
        ["ERROR", "two"],
    ]


@pytest.mark.parametrize(
    "hostile",
    [
        "a\nb",
        "a\r\n2026-02-06T10:00:00Z ERROR forged",
        "\x1b[31mred\x07",
        "\u202eback",
        "a\u2028b\x85c",
        "\x00\x08\ud800",
        "a\tb",
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


def test_value_with_blanks_is_quoted(diagnostics, paths):
    diagnostics.log("info", "m", session='a b "c"', hook="")
    assert 'session="a b \'c\'" hook="" m' in paths.log_file.read_text()


def test_long_text_is_cut(diagnostics, paths):
    diagnostics.log("info", "x" * 1_000_000)
    assert paths.log_file.stat().st_size < 10_000


def test_crash_leaves_head_and_traceback(diagnostics, paths):
    diagnostics.crash(raised(ValueError("it broke")), "abc", "stop")
    head, *rest = paths.crash_log.read_text().splitlines()
    assert head == "2026-02-06T10:00:00Z session=abc hook=stop error=ValueError: it broke"
    assert "Traceback" in rest[0]
    assert "raise error" in "\n".join(rest)


def test_crash_without_session_or_hook(diagnostics, paths):
    diagnostics.crash(raised(KeyboardInterrupt()))
    head = paths.crash_log.read_text().splitlines()[0]
    assert head == "2026-02-06T10:00:00Z session=- hook=- error=KeyboardInterrupt"


def test_error_that_cannot_tell_itself(diagnostics, paths):
    class MuteError(Exception):
        def __str__(self):
            raise RuntimeError

    diagnostics.crash(raised(MuteError()), "abc", "stop")
    assert "MuteError" in paths.crash_log.read_text()


def test_endless_error_is_bounded(diagnostics, paths):
    diagnostics.crash(raised(ValueError("x" * 5_000_000)), "abc", "stop")
    assert paths.crash_log.stat().st_size < 200_000


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


def test_small_log_is_not_rotated(diagnostics, paths):
    paths.home.mkdir()
    paths.log_file.write_text("old\n")
    diagnostics.log("info", "new")
    assert paths.log_file.read_text().startswith("old\n")


def test_writers_side_by_side_lose_nothing_over_a_rotation(diagnostics, paths):
    paths.home.mkdir()
    paths.log_file.write_text("x" * (ROTATION_BYTES - 500) + "\n")

    def write(writer):
        for number in range(20):
            diagnostics.log("info", f"line-{writer}-{number}.")

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    both = paths.log_file.read_text() + paths.log_file.with_name("grove.log.1").read_text()
    for writer in range(4):
        for number in range(20):
            assert both.count(f"line-{writer}-{number}.") == 1


def test_unwritable_home_is_ignored(tmp_path):
    (tmp_path / "home").write_text("a file where the directory belongs")
    diagnostics = Diagnostics(Paths(tmp_path / "home"), lambda: NOW)
    diagnostics.log("error", "nobody hears")
    diagnostics.crash(raised(ValueError("nobody hears")))
    assert [path.name for path in tmp_path.iterdir()] == ["home"]


def test_hostile_arguments_do_not_raise(paths):
    class Hostile:
        def __str__(self):
            raise RuntimeError

    def no_time():
        raise OSError

    Diagnostics(paths, lambda: NOW).log("error", "m", value=Hostile())
    Diagnostics(paths, no_time).log("error", "m")
    Diagnostics(paths, no_time).crash(ValueError("m"))
    assert not paths.log_file.exists()


def test_logs_are_private(diagnostics, paths):
    diagnostics.log("info", "m")
    diagnostics.crash(raised(ValueError("m")))
    assert paths.log_file.stat().st_mode & 0o077 == 0
    assert paths.crash_log.stat().st_mode & 0o077 == 0
