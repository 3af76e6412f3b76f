"""Processes that write, count and make the cache at the same time."""

from core_worlds import codes_of, fork
from scale import turned_up

from grove_core.stats.cache import Numbers
from grove_core.storage import files
from grove_core.storage.cache import IN_MEMORY, Cache

HEAD = '"v":1,"ts":"2026-02-05T10:00:00Z","grove":"0.1.0"'
NOISE = f'<<<<<<< HEAD\n{{{HEAD},"event":"novel"}}\n{{{HEAD},"event":"surf\n>>>>>>> theirs\n'


def pair(session):
    """Two events of one learning, as one process appends them at once."""
    use = f'{HEAD},"learning_id":"cl_3","session_id":"{session}"'
    return "".join(f'{{{use},"event":"{event}"}}\n' for event in ("surfaced", "dismissed"))


def count(path, log):
    cache = Cache(str(path))
    usage = Numbers(cache, [str(log)]).usage()
    cache.close()
    return usage


def test_several_processes_make_one_cache(tmp_path):
    """Of a log that takes a while to read, while somebody appends to it."""
    log, path = tmp_path / "stats.log", tmp_path / "stats.sqlite"
    log.write_text(NOISE + "".join(pair(f"s{number}") for number in range(3_000)))

    def write():
        for number in range(40):
            files.append_text(log, pair(f"later-{number}"))

    def read():
        known = 0
        while known < 3_040:
            for one in count(path, log).values():
                assert known <= one.surfaced
                assert one.dismissed in (one.surfaced, one.surfaced - 1)
                known = one.surfaced

    readers = [fork(read) for _ in range(turned_up(3, 8))]
    assert codes_of(fork(write), *readers) == [0] * (1 + len(readers))
    assert count(path, log) == count(IN_MEMORY, log)
