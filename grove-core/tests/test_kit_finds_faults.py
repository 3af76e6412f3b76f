"""Each standard test finds a fault: a broken plugin for every one, and the sound ones pass."""

import json
import os
import time
from types import MappingProxyType

import pytest
from broken_backends import BROKEN_BACKENDS, InFile, WithServer
from broken_plugins import BROKEN_PLUGINS
from broken_trackers import BROKEN_TRACKERS, CLOSES, FILE, LEAVES, SoundTracker
from core_worlds import write_file
from faults import but
from verdicts import cases_of, standard_tests, verdict

from grove_core.testing import (
    BackendContract,
    InMemoryBackend,
    InMemoryStorage,
    PluginContract,
    TicketContract,
)
from grove_core.testing.rules import sharing, tickets

SOUND_PLUGIN = "broken_plugins:sound"
CONTRACTS = {
    BackendContract: BROKEN_BACKENDS,
    TicketContract: BROKEN_TRACKERS,
    PluginContract: BROKEN_PLUGINS,
}


def of_backend(made, case, folder):
    storage = InMemoryStorage()

    def opened(place):
        if issubclass(made, WithServer):
            return made(place)
        return made(place / "shelf.json") if issubclass(made, InFile) else made(storage=storage)

    return verdict(
        type("TestBackend", (BackendContract,), {})(),
        case,
        open_backend=lambda: opened(folder),
        broken_backend=lambda: made(folder),
        tmp_path=folder,
    )


def of_tracker(made, case, folder):
    used, empty = folder / "used", folder / "empty"
    write_file(used / FILE, json.dumps({"current": "T-1"}))
    empty.mkdir()
    values = {"plugin": made(), "closes": CLOSES, "leaves": LEAVES}
    return verdict(
        type("TestTracker", (TicketContract,), values)(),
        case,
        used_project=used,
        empty_project=empty,
    )


def of_plugin(target, case, folder):
    contract = type("TestPlugin", (PluginContract,), {"plugin": target})
    return verdict(contract(), case, tmp_path=folder)


@pytest.mark.parametrize(("case", "broken"), BROKEN_BACKENDS)
def test_a_broken_backend_is_found_out_and_a_sound_one_passes(case, broken, tmp_path):
    sound = next(one for one in (WithServer, InFile, InMemoryBackend) if issubclass(broken, one))
    for made in (broken, sound):
        (tmp_path / made.__name__).mkdir()
    assert of_backend(broken, case, tmp_path / broken.__name__)
    if "files" in case:
        return  # what the sound ones do not declare
    assert of_backend(sound, case, tmp_path / sound.__name__) == ""


@pytest.mark.parametrize(("case", "broken"), BROKEN_TRACKERS)
def test_a_broken_ticket_system_is_found_out(case, broken, tmp_path, monkeypatch):
    monkeypatch.setattr(tickets, "_SECONDS", 0.05)
    for made in (broken, SoundTracker):
        (tmp_path / made.__name__).mkdir()
    assert of_tracker(broken, case, tmp_path / broken.__name__)
    assert of_tracker(SoundTracker, case, tmp_path / SoundTracker.__name__) == ""


@pytest.mark.parametrize(("case", "broken"), BROKEN_PLUGINS)
def test_a_broken_plugin_is_found_out(case, broken, tmp_path):
    assert of_plugin(broken, case, tmp_path)


@pytest.mark.parametrize("contract", CONTRACTS)
def test_every_standard_test_has_a_broken_plugin(contract):
    broken = {cases_of(contract)[case][0] for case, _ in CONTRACTS[contract]}
    assert broken == {*standard_tests(contract)}


class TestSoundTracker(TicketContract):
    plugin = SoundTracker()
    closes = CLOSES
    leaves = LEAVES
    files = MappingProxyType({FILE: json.dumps({"current": "T-1"})})


class TestSoundPlugin(PluginContract):
    plugin = SOUND_PLUGIN


def test_processes_that_hang_or_die_are_told(tmp_path, monkeypatch):
    monkeypatch.setattr(sharing, "_SECONDS", 0.5)
    case = "test_parallel_processes_lose_nothing"
    dies = but(InFile, write=lambda *_: os._exit(3))
    hangs = but(InFile, write=lambda *_: time.sleep(60))
    assert "not over after 0.5 s\nassert [3, 3, 3, 3] ==" in of_backend(dies, case, tmp_path)
    assert "[None, None, None, None]" in of_backend(hangs, case, tmp_path)
