"""What uv and pipx write down of the environment that they have made for a program."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import evolve

from grove_core.health.installer import Package, without_credentials
from grove_core.plugins.discovery import canonical_name

_UV_OPTIONS: Final = (
    *("find-links", "no-index", "index-url", "extra-index-url", "index-strategy"),
    *("keyring-provider", "prerelease", "resolution", "exclude-newer"),
)
_PIP_OPTIONS: Final = frozenset(
    ("--find-links", "-f", "--index-url", "-i", "--extra-index-url", "--trusted-host")
)
_PIP_FLAGS: Final = frozenset(("--no-index", "--pre"))


def read_uv(receipt: Path) -> tuple[Sequence[Package], Sequence[str]]:
    """Read what uv was asked for."""
    from tomli import loads

    try:
        tool = _table(loads(receipt.read_text(encoding="utf-8")).get("tool"))
    except (OSError, ValueError):
        tool = {}
    packages = [
        Package(
            name=one["name"],
            extras=tuple(_texts(one.get("extras"))),
            versions="".join(_texts(one.get("specifier"))),
            marker="".join(_texts(one.get("marker"))),
        )
        for one in map(_table, _list(tool.get("requirements")))
        if isinstance(one.get("name"), str)
    ]
    python = [word for one in _texts(tool.get("python")) for word in ("--python", one)]
    return _merged(packages), (*python, *_uv_options(_table(tool.get("options"))))


def _merged(packages: Sequence[Package]) -> Sequence[Package]:
    """Make one of what was asked for twice, as uv does, such as once more with an extra."""
    found: dict[str, Package] = {}
    for one in packages:
        other = found.setdefault(canonical_name(one.name), one)
        if other is not one:
            found[canonical_name(one.name)] = evolve(
                other,
                extras=tuple(dict.fromkeys((*other.extras, *one.extras))),
                versions=",".join(filter(None, (other.versions, one.versions))),
                marker=other.marker if other.marker == one.marker else "",
            )
    return list(found.values())


def _uv_options(told: Mapping[str, Any]) -> Iterator[str]:
    for name in _UV_OPTIONS:
        if told.get(name) is True:
            yield f"--{name}"
        for value in _texts(told.get(name)):
            yield from (f"--{name}", without_credentials(value))
    for index in map(_table, _list(told.get("index"))):
        for url in _texts(index.get("url")):
            yield "--default-index" if index.get("default") is True else "--index"
            yield "=".join([*_texts(index.get("name")), without_credentials(url)])


def read_pipx(metadata: Path) -> tuple[Sequence[str], Sequence[str]]:
    """Read what pipx was asked for."""
    try:
        told = _table(json.loads(metadata.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError):
        told = {}
    arguments = _texts(_table(told.get("main_package")).get("pip_args"))
    return sorted(_table(told.get("injected_packages"))), tuple(_pip_options(arguments))


def _pip_options(arguments: Iterable[str]) -> Iterator[str]:
    """Choose what says where packages are found; the rest is about the one package."""
    words = iter(arguments)
    for word in words:
        name, _, value = word.partition("=")
        if word in _PIP_FLAGS or (name in _PIP_OPTIONS and value):
            yield without_credentials(word)
        elif word in _PIP_OPTIONS and (value := next(words, "")):
            yield from (word, without_credentials(value))


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()


def _texts(value: object) -> Sequence[str]:
    """The texts of what may be one, a list of them, or something else."""
    values = [value] if isinstance(value, str) else _list(value)
    return [one for one in values if isinstance(one, str)]
