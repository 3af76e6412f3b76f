"""Our wheels: what is in them, and that they work where nothing of the checkout is in sight."""

import re
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PACKAGES = sorted(path.parent.name for path in ROOT.glob("grove-*/pyproject.toml"))
EXTENSIONS = [package for package in PACKAGES if package != "grove-core"]
FOR_USERS = set(EXTENSIONS) - {"grove-eval"}


def declared(package):
    return tomllib.loads((ROOT / package / "pyproject.toml").read_text())["project"]


@pytest.mark.parametrize("package", PACKAGES)
def test_wheel_holds_the_package_and_nothing_else(wheel, package):
    module = package.replace("-", "_")
    source = ROOT / package / "src"
    files = [path.relative_to(source) for path in source.rglob("*") if path.is_file()]
    # What tools leave behind does not count.
    expected = {
        str(path) for path in files if not re.search(r"/(\.(?!git)|__pycache__/)", str(path))
    }
    version = declared(package)["version"]
    information = f"{module}-{version}.dist-info"
    shared = [path for path in (ROOT / package / "share").rglob("*") if path.is_file()]
    expected |= {
        f"{module}-{version}.data/data/{path.relative_to(ROOT / package)}" for path in shared
    }
    expected |= {
        f"{information}/{name}"
        for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE")
    }
    with zipfile.ZipFile(wheel(package)) as archive:
        assert set(archive.namelist()) == expected
        licence = archive.read(f"{information}/licenses/LICENSE")
    assert f"{module}/py.typed" in expected
    assert licence == (ROOT / "LICENSE").read_bytes()


@pytest.mark.parametrize("package", EXTENSIONS)
def test_entry_points_import_beside_nothing_but_core(project_of, core_alone, wheel, package):
    """Straight from the wheel: neither its dependencies nor another plugin are installed."""
    targets = sorted(
        target for group in declared(package)["entry-points"].values() for target in group.values()
    )
    code = f"import {', '.join(targets)}; print({targets[0]}.__file__)"
    done = project_of(core_alone).python("-c", code, PYTHONPATH=str(wheel(package)))
    assert (done.code, done.stderr) == (0, "")
    assert done.stdout.startswith(str(wheel(package)))


def listed(done):
    assert (done.code, done.stderr) == (0, "")
    assert done.json["problems"] == []
    return [
        (entry["group"], entry["name"], entry["distribution"], entry["version"], entry["state"])
        for entry in done.json["plugins"]
    ]


def test_the_extra_named_all_brings_everything(project_of, everything):
    project = project_of(everything)
    found = listed(project.grove("plugins", "--json"))
    assert {distribution for _, _, distribution, _, _ in found} == FOR_USERS
    expected = {
        (group, name)
        for package in FOR_USERS
        for group, targets in declared(package)["entry-points"].items()
        for name in targets
    }
    assert {(group, name) for group, name, *_ in found} == expected


def test_the_plugin_knows_the_console_script(project_of, usual):
    """Here the script begins with a shell's line, as the path of its interpreter holds a space."""
    project = project_of(usual)
    assert usual.program.read_text().startswith("#!/bin/sh\n")
    launcher = ROOT / "plugin" / "bin" / "grove"
    done = project.python("-c", f"import os; os.execv({str(launcher)!r}, ['grove', '--version'])")
    assert (done.code, done.stderr) == (0, "")
    assert done.stdout.startswith("grove ")
