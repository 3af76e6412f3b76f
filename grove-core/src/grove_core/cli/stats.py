"""``grove stats``, ``cost``, ``digest`` and ``page``."""

import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import rich_click as click

from grove_core.cli.app import grove_command
from grove_core.cli.result import Result
from grove_core.cli.timeparse import parse_time
from grove_core.codec import share_to_dict
from grove_core.errors import GroveError
from grove_core.model.statistics import GroupStats, Insight, Statistics
from grove_core.project import Project
from grove_core.stats.insights import insights_of
from grove_core.storage.files import make_directory
from grove_core.text import clean_line, counted

if TYPE_CHECKING:
    from rich.console import Console

_LONGEST_TITLE: Final = 200
_LOOKED_AT: Final = 1000
_DOCUMENT_VERSION: Final = 1
_MOST_LISTED: Final = 50
_FILE: Final = click.Path(dir_okay=False, allow_dash=True, path_type=Path)


@click.command("stats")
@click.option(
    "--since",
    metavar="WHEN",
    help="Count only what happened since: 30d, 12h, or a date such as 2026-02-06.",
)
@click.option(
    "--html",
    metavar="FILE",
    type=_FILE,
    help="Write the page of grove page instead; - for standard output.",
)
@grove_command
def command(project: Project, *, since: str | None, html: Path | None) -> Result:
    """Show whether learnings help, what the gates do, and what to look at.

    With --quiet only the ids of the most valuable learnings are printed. Exit code 0 whatever the
    numbers are, 1 when a backend cannot be read or the page cannot be written.
    """
    start = None if since is None else parse_time(since, project.now, "--since")
    if html is not None:
        return _write_page(project, html, start)
    statistics = project.statistics(start)
    insights = insights_of(statistics)

    def human(console: "Console") -> None:
        from grove_core.report.dashboard import print_dashboard

        print_dashboard(statistics, insights, title_of(project), console)

    return Result(
        document=statistics_document(statistics, insights),
        human=human,
        ids=[one.learning_id for one in statistics.top],
    )


def statistics_document(statistics: Statistics, insights: Sequence[Insight]) -> dict[str, Any]:
    """Describe the numbers for ``--json``."""
    write_gate, skips, gate = statistics.write_gate, statistics.skips, statistics.gate
    return {
        "version": _DOCUMENT_VERSION,
        "generated_at": statistics.now,
        "since": statistics.since,
        "learnings": {
            "total": statistics.learnings,
            "active": 0,
            "archived": 0,
            "superseded": 0,
            **statistics.by_status,
            "bytes": statistics.learnings_bytes,
        },
        "usage": statistics.usage,
        "categories": [_group(one) for one in statistics.categories],
        "scopes": [_group(one) for one in statistics.scopes],
        "most_valuable": statistics.top,
        "cross_pollination": {
            "count": statistics.edges.total,
            "last_30_days": statistics.edges.recent,
            "30_days_before": statistics.edges.before,
            "learnings": statistics.cross_pollination,
        },
        "going_stale": {
            "count": statistics.going_stale_count,
            "learnings": statistics.going_stale,
        },
        "reflections": statistics.reflections,
        "write_gate": {
            "evaluated": write_gate.passed.total,
            "accepted": write_gate.passed.count,
            "pass_rate": write_gate.passed,
            "rejected_by_stage": write_gate.rejected_by_stage,
            "retrospective_misses": {
                "count": len(write_gate.misses),
                "candidates": write_gate.misses[:_MOST_LISTED],
            },
        },
        "skips": {
            "total": skips.total,
            "by_decider": skips.by_decider,
            "misses": {**share_to_dict(skips.tickets), "tickets": skips.misses},
        },
        "gate": {"cycles": sum(gate.by_outcome.values()), **gate._asdict()},
        "weeks": statistics.weeks,
        "insights": insights,
        "log": statistics.log,
    }


def _group(group: GroupStats) -> dict[str, Any]:
    return {
        "name": group.name,
        "learnings": group.learnings,
        "active": group.active,
        "hits": group.hits,
        "last_30_days": group.recent,
        "30_days_before": group.before,
        "trend": group.trend,
        "weeks": [one._asdict() for one in group.weeks],
    }


@click.command("cost")
@grove_command
def cost_command(project: Project) -> Result:
    """Show what grove costs: text and tokens, stops, refusals and hooks' time.

    By week, and for the latest sessions on this machine.
    """
    from grove_core.report.cost import cost_document, cost_sections

    document = cost_document(project)

    def human(console: "Console") -> None:
        from grove_core.report.dashboard import print_sections

        print_sections(cost_sections(document), console)

    return Result(document=document, human=human)


@click.command("digest")
@click.option(
    "--since",
    metavar="WHEN",
    default="7d",
    show_default=True,
    help="What has happened since: 30d, 12h, or a date such as 2026-02-06.",
)
@click.option(
    "--base", metavar="REV", help="What this branch adds to REV, and what was used for it, instead."
)
@grove_command
def digest_command(project: Project, *, since: str, base: str | None) -> Result:
    """Write a digest as Markdown: new learnings, most used, corrected, going stale, refused.

    With `--base origin/main` it is about a branch, as a comment on its pull request. With --quiet
    only the ids of the new learnings are printed.
    """
    from grove_core.report.digest import digest_markdown, digest_of_branch, digest_since

    if base is None:
        document = digest_since(project, parse_time(since, project.now, "--since"))
    else:
        document = digest_of_branch(project, base)
    lines = digest_markdown(document, title_of(project))
    return Result(document=document, lines=lines, ids=[one["id"] for one in document["new"]])


@click.command("page")
@click.argument("file", required=False, type=_FILE)
@grove_command
def page_command(project: Project, *, file: Path | None) -> Result:
    """Write a page for a browser: every learning with its use and its reasons, and the numbers.

    It is one file that loads nothing from anywhere, to be searched and filtered. Without FILE it is
    written outside of the project, into grove's own directory; - is standard output.
    """
    target = file
    if target is None:
        target = project.files.state_directory / "page.html"
        make_directory(target.parent)
    return _write_page(project, target)


def title_of(project: Project) -> str:
    """Name a project by its directory."""
    return clean_line(project.root.name, _LONGEST_TITLE) or "grove"


def _write_page(project: Project, target: Path, since: datetime | None = None) -> Result:
    from grove_core.report.page import html_page, is_page, readable_learnings

    statistics = project.statistics(since)
    insights = insights_of(statistics)
    learnings, readable = readable_learnings(project)
    page = html_page(statistics, insights, learnings, readable, title_of(project))
    if str(target) == "-":
        context = click.get_current_context()
        if context is not None and context.params["as_json"]:
            raise click.UsageError("- and --json both print; choose one", context)
        sys.stdout.flush()
        page.dump(sys.stdout.buffer, encoding="utf-8")
        return Result.printed([])
    path = target.resolve()
    try:
        if path.exists() and not is_page(path.read_bytes()[:_LOOKED_AT]):
            raise GroveError(f"{target} is there and no page of grove's; name another file")
        page.dump(str(path), encoding="utf-8")
    except OSError as error:
        raise GroveError(f"cannot write {target}: {error.strerror or error}") from error
    count = len(learnings)
    return Result(
        document={"path": path, "learnings": count},
        lines=[f"Wrote {path} with {counted(count, 'learning')}"],
        ids=[str(path)],
    )
