"""The configuration: every key understood, every name a thing that is there."""

from collections.abc import Iterable, Sequence

from grove_core.config import ConfigProblem
from grove_core.health.check import Check, broken, ok, warning


def judge_configuration(
    problems: Sequence[ConfigProblem], warnings: Iterable[str]
) -> Sequence[Check]:
    """Return what in the configuration has no effect."""
    name = "configuration"
    checks = [_judge(name, problem) for problem in problems]
    mend = "Correct or delete it, or make available what it names"
    checks += [warning(name, line, mend) for line in dict.fromkeys(warnings)]
    return checks or [ok(name, "every key is understood")]


def _judge(name: str, problem: ConfigProblem) -> Check:
    if not problem.key and problem.origin.file is not None:
        return broken(name, str(problem), f"Correct {problem.origin.file}: none of it is in force")
    mend = f"Correct or delete it in {problem.origin}; until then it alone has no effect"
    return warning(name, str(problem), mend)
