"""Many short-lived `grove` processes, and processes that die at a chosen write."""

import json
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from attrs import define, field, frozen

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "harness"))


@frozen
class Ended:
    """What a child of the nursery left behind; the code is negative for a signal."""

    code: int
    stdout: str
    stderr: str
    changes: list

    @property
    def json(self):
        return json.loads(self.stdout)


def _start_nursery():
    return subprocess.Popen(
        [sys.executable, HERE / "harness" / "nursery.py"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


@define
class Nursery:
    """A process that forks a `grove` for each request; one request at a time."""

    process: subprocess.Popen = field(factory=_start_nursery)

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        assert self.process.wait(timeout=60) == 0

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        return Ended(**json.loads(self.process.stdout.readline()))

    def grove(self, world, *words, stdin="", variables=None, **death):
        """Runs `grove` as `World.grove` does; `number` and `half` say when it dies."""
        return self.ask(
            words=[str(word) for word in words],
            stdin=stdin,
            environment={**world.environment, **(variables or {})},
            cwd=str(world.project),
            **death,
        )

    def call(self, world, function, *arguments, **death):
        """Runs a function of a module in `harness/`; its answer is JSON on stdout."""
        return self.ask(
            function=function,
            arguments=[str(argument) for argument in arguments],
            environment=world.environment,
            cwd=str(world.project),
            **death,
        )


@pytest.fixture(scope="module")
def nursery():
    """One nursery for all tests of a file."""
    with closing(Nursery()) as started:
        yield started


@pytest.fixture
def nurseries():
    """Makes further nurseries, for children side by side."""
    started = []

    def make():
        started.append(Nursery())
        return started[-1]

    yield make
    for one in started:
        one.close()


@pytest.fixture
def keep(tmp_path_factory):
    """Keeps a world as it is, and gives a function that brings it back."""
    from moments import keep as keep_folder

    return lambda world: keep_folder(world.folder, tmp_path_factory.mktemp("place"))
