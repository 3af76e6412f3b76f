"""`grove stats`: the dashboard and the page, from numbers made by hand and from real logs."""

import json
import os
import pty
import re
import select
import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path

import pytest
from rich.cells import cell_len  # noqa: TID253 - no hook runs this
from rich.console import Console  # noqa: TID253 - no hook runs this

from grove_core.model.statistics import GroupStats, LogFault, LogStats, Share, Statistics
from grove_core.report.dashboard import print_dashboard
from grove_core.report.html_page import html_page
from grove_core.report.signs import spark_of_counts, spark_of_rates
from grove_core.report.words import (
    Trend,
    evidence_of,
    fault_of,
    in_days,
    interval_of,
    percent,
    share_of,
    trend_of,
)
from grove_core.stats.document import statistics_document
from grove_core.stats.insights import insights_of

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import statistics_examples as examples

EXAMPLES = {
    "rich": examples.rich_example(),
    "single": examples.single_example(),
    "empty": examples.empty_example(),
    "long": examples.long_example(),
}
TITLES = (
    "By category",
    "Most valuable",
    "Cross-pollination",
    "Going stale",
    "Write gate",
    "Skips",
    "Gate",
    "Insights",
    "Event log",
)
ANSI = re.compile(r"\x1b\[[0-9;]*m")


class Output:
    """A stream with an encoding, as a console wants it."""

    def __init__(self, encoding="utf-8"):
        self.encoding = encoding
        self.text = ""

    def write(self, text):
        self.text += text

    def flush(self):
        pass

    def isatty(self):
        return False


def dashboard(statistics, *, width=200, terminal=False, encoding="utf-8"):
    output = Output(encoding)
    console = Console(
        file=output,
        force_terminal=terminal,
        color_system="standard" if terminal else None,
        width=width,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=True,
    )
    print_dashboard(statistics, insights_of(statistics), "orders", console)
    return output.text


def titles_in(text):
    return tuple(title for title in TITLES if re.search(rf"^{title}( ─+)?$", text, re.MULTILINE))


# --- how numbers are said ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rate", "said"),
    [(0, "0 %"), (0.001, "1 %"), (0.345, "34 %"), (0.996, "99 %"), (1, "100 %")],
)
def test_no_rate_is_rounded_to_none_or_all(rate, said):
    assert percent(rate) == said


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (Share(), "0 of 0 showings"),
        (Share(1, 4), "1 of 4 showings, 25 % (5–70 %)"),
        (Share(250, 1000), "250 of 1,000 showings, 25 %"),
    ],
)
def test_a_rate_comes_with_its_count_and_of_few_with_its_interval(share, said):
    assert share_of(share, "showings") == said


def test_an_interval_that_rounds_to_one_number_is_one_number():
    assert (interval_of(0.271, 0.409), interval_of(0.2101, 0.2099)) == ("27–41 %", "21 %")


@pytest.mark.parametrize(
    ("recent", "before", "trend"),
    [
        (Share(9, 10), Share(5, 10), Trend.UP),
        (Share(5, 10), Share(9, 10), Trend.DOWN),
        (Share(52, 100), Share(50, 100), Trend.STEADY),
        (Share(4, 4), Share(0, 10), Trend.UNKNOWN),
        (Share(10, 10), Share(), Trend.UNKNOWN),
    ],
)
def test_a_trend_needs_something_to_compare(recent, before, trend):
    assert trend_of(recent, before) is trend


@pytest.mark.parametrize(
    ("days", "said"),
    [(-3, "now"), (0, "now"), (0.4, "in 1 day"), (1.2, "in 2 days"), (6.9, "in 7 days")],
)
def test_when_a_learning_is_due(days, said):
    assert in_days(days) == said


def test_evidence_folds_a_rate_with_its_interval():
    evidence = {"used": 2, "shown": 17, "hit_rate": 0.118, "hit_low": 0.03, "hit_high": 0.34}
    more = {**evidence, "by_decider": {"agent": 6}, "examples": ["a", "b"], "low": 7}
    assert evidence_of(evidence) == "used 2, shown 17, hit rate 12 % (3–34 %)"
    assert evidence_of(more).endswith("by decider agent 6, examples a b, low 7")


def test_a_fault_names_the_first_lines():
    fault = LogFault("log", tuple(range(1, 9)), 8, 1)
    assert fault_of(fault) == (
        "log: 8 lines cannot be read (1, 2, 3, 4, 5, …), 1 event of a newer grove"
    )


def test_sparklines_tell_nothing_from_little():
    assert spark_of_counts([0, 1, 1000]) == "··········▁█"
    assert spark_of_rates([Share(), Share(0, 3), Share(3, 3)]) == "··········▁█"
    assert spark_of_counts([]) == "·" * 12
    assert len(spark_of_counts(range(40))) == 12


# --- the dashboard ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("width", [60, 75, 80, 100, 250])
def test_it_fits_a_terminal(name, width):
    lines = ANSI.sub("", dashboard(EXAMPLES[name], width=width, terminal=True)).splitlines()
    assert max(cell_len(line) for line in lines) <= min(width, 120)


@pytest.mark.parametrize("name", EXAMPLES)
def test_it_is_plain_when_piped(name):
    text = dashboard(EXAMPLES[name])
    assert "\x1b" not in text
    assert "─" not in text
    assert all(line == line.rstrip() and cell_len(line) <= 80 for line in text.splitlines())
    assert not set("▲▼▬") & set(text)


def test_a_project_with_a_past_shows_every_section():
    text = dashboard(EXAMPLES["rich"])
    assert titles_in(text) == TITLES
    for said in (
        "43 active, 3 archived, 1 superseded",
        "107 times in 234 showings, 46 %",
        "43 of 64 candidates accepted, 67 % (55–77 %)",
        "24 of 40 up",
        "2 of 11 down",
        "4 of 7 steady",
        "from shop-0 to shop-12, shop-13, shop-9 and 3 more",
        "… and 2 more: grove list --stale",
        "refused by specificity  9",
        "2 of 9 skipped tickets taught something later, 22 % (6–55 %)",
        "led to an accepted learning in 21 of 29, 72 % (54–85 %)",
        "3 lines cannot be read (17, 18, 1204)",
        "5 events of a newer grove",
        "grove doctor",
    ):
        assert said in text


def test_every_insight_has_its_evidence_and_its_suggestion():
    text = " ".join(dashboard(EXAMPLES["rich"]).split())
    for insight in insights_of(EXAMPLES["rich"])[:6]:
        for said in (insight.message, evidence_of(insight.evidence), insight.suggestion):
            assert said in text


def test_a_terminal_gets_arrows_lines_and_colours():
    text = dashboard(EXAMPLES["rich"], width=80, terminal=True)
    assert titles_in(ANSI.sub("", text)) == TITLES
    assert {"▲", "▼", "▬"} <= set(text)
    assert "\x1b[" in text


def test_a_narrow_terminal_gets_no_sparklines():
    assert "▃" in dashboard(EXAMPLES["rich"], width=80, terminal=True)
    assert "▃" not in dashboard(EXAMPLES["rich"], width=60, terminal=True)


def test_sections_without_anything_are_left_out():
    assert titles_in(dashboard(EXAMPLES["single"])) == ("By category",)


def test_ids_are_never_cut():
    best = EXAMPLES["long"].top[0].learning_id
    text = dashboard(EXAMPLES["long"]).partition("Most valuable")[2]
    rows = [line.split()[0] for line in text.splitlines() if line.startswith(("imported", "yyy"))]
    assert "".join(rows).startswith(best)


@pytest.mark.parametrize("terminal", [False, True])
def test_without_numbers_there_are_two_lines(terminal):
    for statistics in (Statistics(examples.NOW), Statistics(examples.NOW, examples.NOW)):
        lines = dashboard(statistics, width=80, terminal=terminal).splitlines()
        assert len(lines) == 2


def test_a_log_that_cannot_be_read_is_named_even_without_numbers():
    log = LogStats(files=1, faults=(LogFault("the.log", (1,), 1),))
    assert "the.log: 1 line cannot be read (1)" in dashboard(Statistics(examples.NOW, log=log))


def test_an_encoding_without_signs_gets_ascii():
    whole = EXAMPLES["rich"]
    plain = whole._replace(
        top=tuple(one._replace(summary="plain") for one in whole.top),
        cross_pollination=(),
        going_stale=(),
        write_gate=whole.write_gate._replace(misses=()),
    )
    output = Output("ascii")
    console = Console(file=output, width=80, force_terminal=True, color_system=None)
    print_dashboard(plain, [], "orders", console)
    assert output.text.isascii()
    assert "24 of 40 ^" in output.text


def test_names_of_any_kind_are_only_text():
    group = GroupStats("[bold]x[/bold]", 1, 1, Share(1, 1), Share(), Share(), (Share(),) * 12)
    statistics = Statistics(examples.NOW, categories=(group,), log=LogStats(events=1, files=1))
    assert "[bold]x[/bold]" in dashboard(statistics)


# --- the page ---------------------------------------------------------------------------------


class Outline(HTMLParser):
    """What a page holds."""

    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.attributes = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *one) for one in attrs]


def page_of(name, title="orders"):
    return html_page(statistics_document(EXAMPLES[name], insights_of(EXAMPLES[name])), title)


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_page_is_whole_and_small_and_loads_nothing(name):
    text = page_of(name, title=examples.HOSTILE)
    outline = Outline(text)
    assert len(text) < 500_000
    assert outline.tags.count("script") == 1
    assert ("script", "type", "application/json") in outline.attributes
    assert not {"img", "link", "iframe", "object", "base", "form"} & set(outline.tags)
    names = {attribute for _, attribute, _ in outline.attributes}
    assert not {"src", "href", "style", "action"} & names
    assert not any(attribute.startswith("on") for attribute in names)
    assert ("html", "lang", "en") in outline.attributes
    policy = next(value for _, _, value in outline.attributes if value and "default-src" in value)
    assert "unsafe" not in policy


def test_a_page_holds_the_document():
    data = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', page_of("rich"))
    document = statistics_document(EXAMPLES["rich"], insights_of(EXAMPLES["rich"]))
    assert json.loads(data[1])["usage"] == json.loads(json.dumps(document["usage"]))
    assert examples.HOSTILE in json.dumps(json.loads(data[1])["most_valuable"]).replace('\\"', '"')


# --- the command ------------------------------------------------------------------------------


IDS = ("cl_20300102_abcdef", "cl_20300102_abcdeg", "cl_20300102_abcdeh")


@pytest.fixture
def past(world):
    """A project with three learnings, of which one was used, and a log with a torn line."""
    world.initialise()
    for learning_id in IDS:
        world.learning(learning_id, f"What {learning_id} says")
    now = datetime.now(UTC)
    lines = []
    for days in range(30, 0, -1):
        common = {"v": 1, "grove": "0.1.0", "session_id": f"s{days}"}
        at = f"{now - timedelta(days=days):%Y-%m-%dT%H:%M:%SZ}"
        for learning_id in IDS[:2]:
            shown = {"event": "surfaced", "learning_id": learning_id, "via": "start", "score": 1}
            lines.append(json.dumps({"ts": at, **common, **shown}))
        if days % 2:
            used = {"event": "referenced", "learning_id": IDS[0], "ticket_id": f"t-{days}"}
            lines.append(json.dumps({"ts": at, **common, **used}))
    world.grove_home.mkdir()
    (world.project / ".grove" / "stats.log").write_text("\n".join([*lines, '{"v": 1, "ts']))
    return world


def test_the_dashboard_of_a_project(past):
    done = past.grove("stats")
    assert (done.code, done.stderr) == (0, "")
    assert "15 times in 60 showings, 25 % (16–37 %)" in done.stdout
    assert IDS[0] in done.stdout
    assert "1 line cannot be read (76)" in done.stdout


def test_json_and_quiet(past):
    document = past.grove("stats", "--json").json
    hits = document["usage"]["hits"]
    assert (hits["count"], hits["total"], hits["rate"]) == (15, 60, 0.25)
    assert past.grove("stats", "-q").stdout == f"{IDS[0]}\n"


@pytest.mark.parametrize("since", ["10d", "date"])
def test_since_counts_less(past, since):
    if since == "date":
        since = f"{datetime.now(UTC) - timedelta(days=10):%Y-%m-%d}"
    document = past.grove("stats", "--json", "--since", since).json
    assert document["since"]
    assert 0 < document["usage"]["hits"]["total"] <= 22
    assert "since 2" in past.grove("stats", "--since", since).stdout.splitlines()[0]


def test_what_goes_stale_does_not_depend_on_since(past):
    whole = past.grove("stats", "--json").json["going_stale"]
    for since in ("1d", "2100-01-01"):
        narrowed = past.grove("stats", "--json", "--since", since).json["going_stale"]
        assert [one["learning_id"] for one in narrowed["learnings"]] == [
            one["learning_id"] for one in whole["learnings"]
        ]
        assert narrowed["count"] == whole["count"]


def test_a_wrong_since_says_what_is_right(past):
    done = past.grove("stats", "--since", "tomorrow")
    assert done.code == 2
    assert "such as 30d" in " ".join(done.stderr.replace("│", " ").split())


def test_a_project_that_has_just_begun(world):
    world.initialise()
    done = world.grove("stats")
    assert (done.code, done.stderr, len(done.stdout.splitlines())) == (0, "", 2)
    assert world.grove("stats", "-q").stdout == ""


def test_the_page_is_written_where_asked(past):
    target = past.grove_home / "page.html"
    done = past.grove("stats", "--html", target)
    assert (done.code, done.stdout, done.stderr) == (0, f"Wrote {target}\n", "")
    shown = re.findall(r'data-pointer="/usage/hits/count">([^<]+)<', target.read_text())
    assert shown == ["15"]
    assert [path.name for path in target.parent.glob("*page*")] == ["page.html"]


def test_a_page_keeps_its_permissions(past):
    target = past.grove_home / "page.html"
    assert past.grove("stats", "--html", target).code == 0
    target.chmod(0o640)
    assert past.grove("stats", "--html", target, "-q").stdout == ""
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


@pytest.mark.parametrize("target", [".grove/learnings.md", ".grove/config.toml", "notes.html"])
def test_a_file_that_is_no_page_of_grove_stays_as_it_is(past, target):
    path = past.project / target
    if not path.exists():
        path.write_text("<!doctype html><p>my own notes")
    before = path.read_bytes()
    done = past.grove("stats", "--html", target)
    assert (done.code, done.stdout) == (1, "")
    assert f"{target} is there and no page of grove stats" in done.stderr
    assert path.read_bytes() == before


def test_an_option_is_no_file_name(past):
    done = past.grove("stats", "--html", "-q")
    assert done.code == 2
    assert "looks like an option" in done.stderr
    assert not (past.project / "-q").exists()


def test_a_link_stays_a_link(past):
    folder = past.grove_home
    (folder / "link.html").symlink_to(folder / "real.html")
    assert past.grove("stats", "--html", folder / "link.html").code == 0
    assert (folder / "link.html").is_symlink()
    assert "<!doctype html>" in (folder / "real.html").read_text()


def test_the_page_and_both_ways_to_json_agree(past):
    page = past.grove("stats", "--html", "-").stdout
    data = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', page)[1]
    short, whole = past.grove("stats", "--json").json, past.grove("stats", "--json", "-C", ".").json
    documents = [
        {**one, "generated_at": "", "going_stale": {}} for one in (json.loads(data), short, whole)
    ]
    assert documents[0] == documents[1] == documents[2]


def test_with_json_the_document_is_printed_as_well(past):
    target = past.grove_home / "page.html"
    done = past.grove("stats", "--html", target, "--json")
    assert done.json["usage"]["hits"]["count"] == 15
    assert target.exists()


def test_the_page_can_be_printed(past):
    done = past.grove("stats", "--html", "-")
    assert (done.code, done.stderr) == (0, "")
    assert done.stdout.startswith("<!doctype html>")
    assert done.stdout.endswith("</html>\n")
    assert past.grove("stats", "--html", "-", "--json").code == 2


@pytest.mark.parametrize(("target", "code"), [(".", 2), ("/dev/null", 1), ("nowhere/page.html", 1)])
def test_what_is_no_file_is_refused(past, target, code):
    done = past.grove("stats", "--html", target)
    assert done.code == code
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_real_terminal_gets_colours_unless_told_otherwise(past):
    assert "\x1b[" in in_terminal(past)
    assert "\x1b[" not in in_terminal(past, NO_COLOR="1").replace("\x1b[1m", "").replace(
        "\x1b[2m", ""
    ).replace("\x1b[0m", "")


def in_terminal(world, **variables):
    """What `grove stats` writes to a terminal."""
    own, its = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "grove_core._entry", "stats"],
        cwd=world.project,
        env={**world.environment, "TERM": "xterm-256color", "COLUMNS": "80", **variables},
        stdin=its,
        stdout=its,
        stderr=its,
    )
    os.close(its)
    found = b""
    while select.select([own], [], [], 30)[0]:
        try:
            data = os.read(own, 65_536)
        except OSError:
            break
        if not data:
            break
        found += data
    os.close(own)
    assert process.wait(timeout=30) == 0
    return found.decode()


def test_stats_without_a_page_imports_no_charts(past):
    script = (
        "import sys; from grove_core._entry import main\n"
        "try: main()\n"
        "finally: sys.stderr.write(str('pygal' in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "stats"],
        cwd=past.project,
        env=past.environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr.endswith("False")
