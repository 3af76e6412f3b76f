"""A project with a ticket, in which grove is set up for one of the clients.

shop = Shop.of(stage, programs)
run = shop.play(CLOSE, "Done.", REFLECT, "Finished.")
"""

import os
import shlex
import subprocess
import sys
from pathlib import Path

from attrs import frozen
from core_worlds import write_file, write_program

from hosts.api import Shell

TICKET = "---\nid: shop-1\nstatus: in_progress\n---\n# Orders report takes 40 seconds\n"
# As tk closes a ticket, which is a file of its own.
TK = """\
#!/bin/sh
test -z "$TK_FAILS" || exit 3
sed -i 's/^status: .*/status: closed/' ".tickets/$2.md" && echo "Updated $2 -> closed"
"""
SUMMARY = "OrderReport.rows() runs one query per order unless items are prefetched"
WORDS = {
    "category": "pitfall",
    "criterion": "behavior_changing",
    "tag": "orders",
    "summary": SUMMARY,
    "detail": (
        "OrderReport.rows() reads order.items in a loop; with 2,000 orders the page took 40 s."
        " Call prefetch_related('items') in reports/orders.py before rows()."
    ),
}
CLOSE = Shell("tk close shop-1")
REFLECT = Shell(
    shlex.join(["grove", "reflect", *(f"--{name}={one}" for name, one in WORDS.items())])
)
HELD = "ticket shop-1 is closed"
MOST_BLOCKS = 3


@frozen
class Shop:
    """A stage with a ticket, the programs `tk` and `grove`, and grove's hooks.

    Attributes:
        stage: The client, its project and its home.
        programs: The folder of the two programs, which comes first on PATH.
    """

    stage: object
    programs: Path

    @classmethod
    def of(cls, stage, programs, *options):
        write_program(programs / "tk", TK)
        (programs / "grove").symlink_to(Path(sys.executable).parent / "grove")
        shop = cls(stage, programs)
        write_file(shop.ticket, TICKET)
        shop.install(*options)
        return shop

    @property
    def ticket(self):
        return self.stage.project / ".tickets" / "shop-1.md"

    @property
    def environment(self):
        others = os.environ["PATH"].split(os.pathsep)
        others = [one for one in others if not Path(one, "grove").exists()]
        return {
            "PATH": os.pathsep.join([str(self.programs), *others]),
            # A machine that is busy with other tests must not make hooks late.
            "GROVE_HOOKS_DEADLINE_MS": "9000",
        }

    def grove(self, *words):
        """Run grove as the person at this home."""
        done = subprocess.run(
            ["grove", *words], cwd=self.stage.project, capture_output=True, text=True, check=False,
            env={**self.environment, "HOME": str(self.stage.home), "LANG": "C.UTF-8"},
        )  # fmt: skip
        assert done.returncode in (0, 1), done.stderr
        return done.stdout

    def watch(self, *files):
        """Have the program `grove`, which files then name, leave a line before it runs; give those."""
        # The plugin looks for a script that names grove_core.
        program, calls = self.programs / "grove", self.programs / "calls"
        real = program.readlink()
        program.unlink()
        write_program(program, f'# grove_core\necho "$@" >> {calls}\nexec {real} "$@"')
        for file in files:
            file.write_text(file.read_text().replace(str(real), str(program)))
        return calls

    def install(self, *options):
        """Register the hooks, and trust them as their person does."""
        self.grove("init", "--hooks", self.stage.client.name, "--yes", *options)
        self.stage.client.trust_hooks(self.stage.home, self.stage.project)

    def play(self, *script, **options):
        """Run the client to its end; give the run."""
        run = self.stage.play(*script, environment=self.environment, **options)
        assert (run.exit_code, run.ended_by) == (0, ""), run.stderr
        return run

    def held(self, run):
        """In which requests the model was newly told that a reflection is pending."""
        return [number for number, one in enumerate(run.requests) if HELD in one.new]

    def learnings(self):
        files = sorted((self.stage.project / ".grove" / "learnings").glob("*.md"))
        return "\n".join(file.read_text() for file in files)
