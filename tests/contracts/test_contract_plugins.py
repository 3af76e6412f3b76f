"""Every plugin of ours keeps the contract of plugins."""

from importlib.metadata import entry_points  # noqa: TID253 - no hook runs this

from grove_core.plugins.discovery import GROUPS
from grove_core.testing import PluginContract

OURS = [
    (group, one) for group in GROUPS for one in entry_points(group=group)
    if one.dist is not None and one.dist.name.startswith("grove-")
]  # fmt: skip


def contract_of(where, entry_point):
    class Contract(PluginContract):
        plugin = entry_point.value
        group = where

    Contract.__name__ = f"Test{entry_point.name.capitalize()}In{where.rpartition('.')[2]}"
    return Contract


for _group, _one in OURS:
    _contract = contract_of(_group, _one)
    globals()[_contract.__name__] = _contract
del _contract


def test_all_of_ours_are_here():
    names = {one.dist.name for _, one in OURS}
    assert names >= {
        "grove-backend-markdown",
        "grove-backend-mcp",
        "grove-backend-postgres",
        "grove-backend-totalrecall",
        "grove-eval",
        "grove-review",
        "grove-tickets",
    }
