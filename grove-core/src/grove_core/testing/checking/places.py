"""A project for each test, and a backend that is opened there as grove would open it."""

import os
import shutil
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import pytest

from grove_core.config import LoadedConfig, load_config
from grove_core.config.plugin_section import section_of, validate_plugin_section
from grove_core.config.schema import LayoutSetting
from grove_core.model.memory import StorageLayout
from grove_core.plugins.descriptors import Area, BackendContext, BackendSpec
from grove_core.testing.rules.reading_back import Opener, ids_in
from grove_core.testing.skipping import NoPlace
from grove_core.testing.verdict import require

PLACEHOLDER: Final = "{test}"
"""In the configuration of the project that is copied, what is another word in each test."""


def make_project(root: Path, like: Path | None) -> Path:
    """Make a project that uses grove."""
    if like is not None:
        shutil.copytree(like, root, symlinks=True, ignore=_not_to_be_copied)
    config = root / ".grove" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    text = config.read_text(encoding="utf-8") if config.exists() else ""
    config.write_text(text.replace(PLACEHOLDER, uuid4().hex[:12]), encoding="utf-8")
    return root


def _not_to_be_copied(folder: str, names: list[str]) -> list[str]:
    """Name sockets and pipes, such as of a server that runs there: no copy of them would work."""
    paths = {name: Path(folder, name) for name in names}
    return [
        name
        for name, path in paths.items()
        if not (path.is_symlink() or path.is_file() or path.is_dir())
    ]


def place_of(spec: BackendSpec, area: Area, folder: Path, like: Path | None) -> BackendContext:
    """Make a project and tell a backend of it."""
    root, home = make_project(folder / "project", like), folder / "home" / ".grove"
    home.mkdir(parents=True)
    environment = {**os.environ, "HOME": str(home.parent), "GROVE_HOME": str(home)}
    loaded = load_config(home, root, environment)
    is_single = loaded.config.storage.layout is LayoutSetting.SINGLE
    fields: dict[str, Any] = {
        "root": root,
        "home": home,
        "area": area,
        "environment": environment,
        "settings": _settings(spec, loaded),
        "layout": StorageLayout.SINGLE if is_single else StorageLayout.SPREAD,
    }
    asked = spec.trust(BackendContext(**fields)) if spec.trust is not None else ()
    return BackendContext(**fields, trusted=frozenset(one.digest for one in asked))


def _settings(spec: BackendSpec, loaded: LoadedConfig) -> object:
    if spec.settings is None:
        return None
    name = f"backends.{spec.name}"
    written, _ = section_of(loaded, name, spec.settings)
    settings, problems = validate_plugin_section(written, spec.settings)
    require(not problems, expected=f"settings that are right in [{name}]", found=problems)
    return settings


def opener_of(spec: BackendSpec, context: BackendContext) -> Opener:
    """Return what opens a backend; the test is skipped where it is not to be found."""
    detection = None if context.area is Area.PERSONAL else spec.detect(context)
    if context.area is Area.PROJECT and not (detection and detection.usable):
        why = f" ({detection.note})" if detection and detection.note else ""
        pytest.skip(
            NoPlace(
                f"{spec.name} has no project in which it can be used{why}: name one with --like, or"
                " what it needs in the environment"
            )
        )
    ids = ids_in(spec.open(context))
    require(
        not ids,
        expected="no learning in a project that is new; where the storage is named by settings,"
        f" another one in each project (--like DIR, with {PLACEHOLDER} in its configuration)",
        found=ids[:3],
    )
    return lambda: spec.open(context)
