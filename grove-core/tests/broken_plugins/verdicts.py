"""Calling one standard test by itself, and what it says."""

import inspect

import pytest


def standard_tests(contract):
    return [name for name in dir(contract) if name.startswith("test_")]


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
    except pytest.skip.Exception as skipped:
        pytest.fail(f"{case} is skipped: {skipped}")
    except (Exception, pytest.fail.Exception) as error:  # whatever a plugin raises
        return f"{type(error).__name__}: {error}"
    return ""
