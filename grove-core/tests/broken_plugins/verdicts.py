"""Calling one standard test by itself, and what it says."""

import inspect

import pytest

from grove_core.testing.standard import standard_tests


def cases_of(contract):
    """The calls of each test, by the name that pytest gives them: at most one parameter."""
    cases = {}
    for name in standard_tests(contract):
        (mark,) = getattr(getattr(contract, name), "pytestmark", [None])
        argument, values = mark.args if mark else ("", [])
        name_of = mark.kwargs.get("ids", str) if mark else str
        cases |= {f"{name}[{name_of(one)}]": (name, {argument: one}) for one in values}
        cases[name] = (name, {})
    return cases


def verdict(contract, case, **fixtures):
    """What a test says: its error, or nothing where it passes."""
    name, arguments = cases_of(type(contract))[case]
    test = getattr(contract, name)
    wanted = fixtures.keys() & inspect.signature(test).parameters.keys()
    try:
        test(**{each: fixtures[each] for each in wanted}, **arguments)
    except AssertionError as error:
        return str(error)
    except pytest.skip.Exception as skipped:
        pytest.fail(f"{case} is skipped: {skipped}")
    return ""


def assert_told(said, contract, case):
    """A failure says its rule, what was found, and where to read on."""
    rule, *_, read = (said or "nothing was found\n").splitlines()
    name, _ = cases_of(contract)[case]
    assert rule == inspect.getdoc(getattr(contract, name)).splitlines()[0], said
    assert rule.endswith(".")
    assert "\n  expected: " in said
    assert "\n  found: " in said
    assert read.startswith("  read: help(grove_core")
