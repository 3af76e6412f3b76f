"""Plant each fault of this folder in a copy of the product, and say which test catches it."""

import argparse
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LONGEST_SECONDS = 900.0
FAILED, NOTHING_FAILED, SURVIVED = 1, (0, 5), "SURVIVED"
FIRST_FAILURE = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)


class Mutant(NamedTuple):
    """A planted fault, and the tests that are to catch it: globs, from the top of the project."""

    name: str
    tier: str
    tests: Sequence[str]
    then: Sequence[str]

    @property
    def patch(self) -> Path:
        return HERE / f"{self.name}.patch"


class Verdict(NamedTuple):
    name: str
    said: str
    is_caught: bool
    seconds: float


class RunError(Exception):
    """Not what a test has found: a fault of this run."""


def read_mutants(path: Path = HERE / "mutants.toml") -> list[Mutant]:
    described = tomllib.loads(path.read_text(encoding="utf-8"))
    patches = {one.stem for one in path.parent.glob("*.patch")}
    if patches != described.keys():
        unpaired = ", ".join(sorted(patches ^ described.keys()))
        raise SystemExit(f"patches and {path.name} do not go together: {unpaired}")
    fields = ("tier", "tests", "then")
    return [
        Mutant(name, *(one.get(each, ()) for each in fields)) for name, one in described.items()
    ]


def make_copy(place: Path) -> Path:
    """Put HEAD's files into a folder, with an environment that runs the code in them."""
    clone = ["git", "-c", "advice.detachedHead=false", "clone", "--quiet", "--shared"]
    subprocess.run([*clone, str(ROOT), str(place)], check=True)
    for tools in (".e2e", ".mcp-servers", ".postgres-server", ".ticket-tools"):
        (place / tools).symlink_to(ROOT / tools)
    uv = shutil.which("uv") or str(ROOT / ".tools/bin/uv")
    command = [uv, "sync", "--quiet", "--all-packages", "--all-groups", "--python", sys.executable]
    environment = os.environ | {"UV_PROJECT_ENVIRONMENT": str(place / ".venv")}
    subprocess.run(command, cwd=place, check=True, env=environment)
    return place


@contextmanager
def planted(mutant: Mutant, copy: Path) -> Iterator[None]:
    apply = ["git", "apply", "--whitespace=nowarn"]
    done = subprocess.run(
        [*apply, str(mutant.patch)], cwd=copy, check=False, capture_output=True, text=True
    )
    if done.returncode:
        raise RunError(f"the patch does not apply: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run([*apply, "--reverse", str(mutant.patch)], cwd=copy, check=True)


def files_of(copy: Path, globs: Sequence[str]) -> list[str]:
    found = [str(path.relative_to(copy)) for glob in globs for path in sorted(copy.glob(glob))]
    return list(dict.fromkeys(found))


def run_tests(copy: Path, tests: Sequence[str]) -> str:
    """Run tests until one fails; give its id, or nothing when none does."""
    bin_folder = copy / ".venv" / "bin"
    command = [str(bin_folder / "python"), "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    command += ["-p", "no_shrinking", "--hypothesis-seed=0"]
    environment = os.environ | {
        "PATH": f"{bin_folder}:{os.environ['PATH']}",
        "PYTHONPATH": str(copy / HERE.relative_to(ROOT)),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    process = subprocess.Popen(
        [*command, *tests],
        cwd=copy,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=LONGEST_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise RunError(f"the tests took longer than {LONGEST_SECONDS:.0f} s") from None
    if process.returncode in NOTHING_FAILED:
        return ""
    found = FIRST_FAILURE.search(output)
    if process.returncode != FAILED or found is None:
        what = found[1] if found else output.strip()[-300:]
        raise RunError(f"pytest ended with {process.returncode}: {what}")
    return found[1]


def judge(mutant: Mutant, copies: "queue.SimpleQueue[Path]") -> Verdict:
    """Try a mutant in one of the copies; a fault of this run catches nothing."""
    copy, began = copies.get(), time.monotonic()
    said, is_caught = SURVIVED, False
    try:
        selections = [files_of(copy, globs) for globs in (mutant.tests, mutant.then)]
        if not any(selections):
            raise RunError("none of its tests is there")
        with planted(mutant, copy):
            found = (run_tests(copy, tests) for tests in selections if tests)
            said = next(filter(None, found), said)
        if said != SURVIVED and run_tests(copy, [said.partition("[")[0]]):
            raise RunError(f"{said} fails without the fault as well")
        is_caught = said != SURVIVED
    except RunError as error:
        said = f"ERROR: {error}"
    finally:
        copies.put(copy)
    return Verdict(mutant.name, said, is_caught, time.monotonic() - began)


def judge_all(mutants: Sequence[Mutant], jobs: int) -> list[Verdict]:
    width = max(len(one.name) for one in mutants)
    verdicts = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder, ThreadPoolExecutor(jobs) as pool:
        copies: queue.SimpleQueue[Path] = queue.SimpleQueue()
        for copy in pool.map(make_copy, [Path(folder, str(number)) for number in range(jobs)]):
            copies.put(copy)
        for done in as_completed([pool.submit(judge, one, copies) for one in mutants]):
            verdict = done.result()
            verdicts.append(verdict)
            print(f"{verdict.name:{width}} {verdict.seconds:6.1f} s  {verdict.said}", flush=True)
    return verdicts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", default=[""], metavar="NAME", help="parts of names")
    parser.add_argument("--jobs", type=int, default=2, help="how many at once (%(default)s)")
    parser.add_argument("--tests", choices=("quick", "real", "all"), default="quick")
    chosen = parser.parse_args()
    of_tier = [one for one in read_mutants() if chosen.tests in (one.tier, "all")]
    mutants = [one for one in of_tier if any(part in one.name for part in chosen.only)]
    if not mutants:
        parser.error("no mutant is meant by that")
    verdicts = judge_all(mutants, min(chosen.jobs, len(mutants)))
    caught = sum(one.is_caught for one in verdicts)
    print(f"{caught} of {len(verdicts)} mutants were caught")
    return 0 if caught == len(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
