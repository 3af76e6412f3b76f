"""A learning is shown with the first look at a file that it names, by each client's own tools."""

import shlex

import pytest
from core_worlds import write_file
from hosts import COPILOT, QWEN, Call, Shell
from hosts.shop import CLOSE, REFLECT, SUMMARY, Shop

FILE = "reports/orders.py"
READ = {
    COPILOT: lambda path: Call("view", {"path": path}),
    QWEN: lambda path: Call("read_file", {"file_path": path}),
}


@pytest.mark.parametrize("stage", READ, ids=lambda one: one.name, indirect=True)
def test_a_file_that_a_learning_names(stage, tmp_path):
    shop = Shop.of(stage, tmp_path / "programs")
    file = write_file(stage.project / FILE, "rows = []\n")
    shop.play(CLOSE, "Done.", Shell(f"{REFLECT.command} --file {shlex.quote(FILE)}"), "Finished.")
    # What was shown at the start is not said again.
    shop.grove("config", "set", "retrieval.max_injections", "0")
    look = READ[stage.client](str(file))
    run = shop.play(look, look, "Done.", prompt="Hello.")
    assert [one.new.count(SUMMARY) for one in run.requests] == [0, 1, 0]
