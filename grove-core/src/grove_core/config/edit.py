"""Setting one key in a configuration file and leaving every other byte as it is."""

import json
import re
from typing import Any

import tomli

from grove_core.errors import ConfigError


def with_setting(text: str, section: str, name: str, value: str) -> str:
    """Set a key of a section."""
    before = _read(text)
    line = f"{name} = {json.dumps(value)}"
    known = before.get(section, {})
    expected = before | {section: known | {name: value}} if isinstance(known, dict) else None
    for changed in _candidates(text, section, name, line):
        try:
            after = tomli.loads(changed)
        except tomli.TOMLDecodeError:
            continue
        if after == expected:
            return changed
    raise ConfigError(f"set it by hand: [{section}] {line}")


def _read(text: str) -> dict[str, Any]:
    try:
        return tomli.loads(text)
    except tomli.TOMLDecodeError as error:
        raise ConfigError(f"the configuration is not TOML, mend it first: {error}") from error


def _candidates(text: str, section: str, name: str, line: str) -> list[str]:
    """Try what is nearest to the person's own writing first."""
    header = re.search(rf"(?m)^[ \t]*\[[ \t]*{section}[ \t]*\][^\n]*\n?", text)
    candidates = []
    if header is not None:
        start = header.end()
        following = re.search(r"(?m)^[ \t]*\[", text[start:])
        end = start + following.start() if following else len(text)
        body = text[start:end]
        for pattern in (
            rf"(?m)^([ \t]*){name}[ \t]*=[ \t]*(?:\"[^\"\n]*\"|'[^'\n]*')",
            rf"(?m)^()#[ \t]*{name}[ \t]*=[^\n\r]*",
        ):
            body_after, count = re.subn(pattern, lambda m: m[1] + line, body, count=1)
            if count:
                candidates.append(text[:start] + body_after + text[end:])
        joint = "" if text[:start].endswith("\n") else "\n"
        candidates.append(f"{text[:start]}{joint}{line}\n{text[start:]}")
    dotted = rf"(?m)^([ \t]*){section}\.{name}[ \t]*=[ \t]*(?:\"[^\"\n]*\"|'[^'\n]*')"
    key = f"{section}.{line}"
    candidates.append(re.sub(dotted, lambda m: m[1] + key, text, count=1))
    joint = "" if not text or text.endswith("\n") else "\n"
    candidates.append(f"{text}{joint}{'' if not text else chr(10)}[{section}]\n{line}\n")
    return candidates
