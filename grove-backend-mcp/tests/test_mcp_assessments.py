"""What is known about servers, kept in files that anything may have happened to."""

import json
from datetime import UTC, datetime

import pytest
from attrs import evolve

from grove_backend_mcp.discovery.assessments import Assessment, load_assessment, save_assessment

NOW = datetime(2026, 11, 22, 18, 0, tzinfo=UTC)
VERDICT = Assessment(
    server_name="memory-server",
    version="0.6.3",
    profile="server-memory",
    has_write=True,
    has_search=False,
    tools_digest="abc",
    checked_at=NOW,
    facts={"query_mode": "words", "seconds": 0.6, "warnings": ["noise"]},
)


def file_of(home, digest):
    return home / "cache" / "mcp" / "servers" / f"{digest}.json"


def test_what_was_kept_is_known(tmp_path):
    assert load_assessment(tmp_path, "d1") is None
    save_assessment(tmp_path, "d1", VERDICT)
    other = evolve(VERDICT, profile=None, facts={})
    save_assessment(tmp_path, "d2", other)
    assert load_assessment(tmp_path, "d1") == VERDICT
    assert load_assessment(tmp_path, "d2") == other
    save_assessment(tmp_path, "d1", other)
    assert load_assessment(tmp_path, "d1") == other
    assert {one.name for one in file_of(tmp_path, "").parent.iterdir()} == {"d1.json", "d2.json"}


@pytest.mark.parametrize(
    "key",
    "v server_name version profile has_write has_search tools_digest checked_at facts".split(),
)
@pytest.mark.parametrize("value", [7, "not a time or number"])
def test_a_wrong_value_never_raises(tmp_path, key, value):
    save_assessment(tmp_path, "d", VERDICT)
    path = file_of(tmp_path, "d")
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, key: value}))
    found = load_assessment(tmp_path, "d")
    fits = isinstance(value, {"facts": dict}.get(key, str)) and key not in {
        "v", "has_write", "has_search", "checked_at"
    }  # fmt: skip
    assert (found is not None) == fits
    path.write_text(json.dumps({name: one for name, one in document.items() if name != key}))
    assert (load_assessment(tmp_path, "d") is not None) == (key == "facts")
