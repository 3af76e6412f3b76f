"""The session's server answers clients made with the official SDK, of both of its versions."""

import json
import os
import sys
from pathlib import Path

import pytest
from core_worlds import run_program
from real_servers import installed

CLIENT = Path(__file__).parent / "servers" / "sdk_client.py"
GROVE = Path(sys.executable).with_name("grove")


@pytest.mark.parametrize(
    ("sdk", "mode"), [("sdk1", "handshake"), ("sdk", "handshake"), ("sdk", "modern")]
)
def test_the_sdk_finds_the_tools_and_reads_what_they_answer(tmp_path, sdk, mode):
    python = installed(sdk) / "bin" / "python"
    done = run_program(
        [python, CLIENT, mode, GROVE, "serve"],
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "CLAUDE_CODE_SESSION_ID": "gone"},
        cwd=tmp_path,
        check=True,
        timeout=120,
    )
    answer = json.loads(done.stdout)
    assert answer["tools"] == ["reflect", "skip", "search", "ref", "observe"]
    assert answer["called"]["isError"] is True
    assert "there is no session gone" in answer["called"]["content"][0]["text"]
    assert "error" in answer["called"]["structuredContent"]
    assert "there is no tool none" in answer["refused"]
    versions = answer["found"].get("supportedVersions") or [answer["found"]["protocolVersion"]]
    assert versions == (["2026-07-28"] if mode == "modern" else ["2025-11-25"])
