"""`grove stats` and `grove status`: the numbers of a project, for people, as a page and as JSON."""

import io
import json
import re
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser

import pytest
import statistics_examples as examples
from core_worlds import write_file
from rich.cells import cell_len  # noqa: TID253 - no hook runs this
from rich.console import Console  # noqa: TID253 - no hook runs this

from grove_core.model.learning import Share
from grove_core.report.dashboard import print_dashboard
from grove_core.report.page import html_page
from grove_core.report.text import percent, share_of, trend_of
from grove_core.stats.insights import insights_of

EXAMPLES = {
    "rich": examples.rich_example(),
    "single": examples.single_example(),
    "empty": examples.empty_example(),
    "long": examples.long_example(),
}
TITLES = (
    "By category",
    "Most valuable",
    "Used for other tickets",
    "Going stale",
    "Write gate",
    "Skips",
    "Gate",
    "What to look at",
    "Event log",
)
ANSI = re.compile(r"\x1b\[[0-9;]*m")


def dashboard(statistics, *, width=200, terminal=False):
    output = io.StringIO()
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
    return output.getvalue()


def titles_in(text):
    return tuple(title for title in TITLES if re.search(rf"^{title}( ─+)?$", text, re.MULTILINE))


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


def test_the_page_is_written_where_asked_or_into_groves_own_directory(past):
    target = past.grove_home / "page.html"
    wrote = f"Wrote {target} with 3 learnings\n"
    for words in (("page", target), ("stats", "--html", target)):
        done = past.grove(*words)
        assert (done.code, done.stdout, done.stderr) == (0, wrote, "")
    text = target.read_text()
    assert all(text.count(f'<details id="{one}"') == 1 for one in IDS)
    for said in ("used 15 of 30", "15 times in 60 showings", "used for ticket t-1<"):
        assert said in text
    before = set(past.project.rglob("*"))
    own = past.grove("page", "-q").stdout.strip()
    assert own.startswith(str(past.grove_home / "projects"))
    assert set(past.project.rglob("*")) == before
    assert past.grove("page", "-").stdout.startswith("<!doctype html>")
    assert past.grove("page", "-", "--json").code == 2


@pytest.mark.parametrize("target", [".grove/learnings.md", "notes.html"])
def test_a_file_that_is_no_page_of_grove_stays_as_it_is(past, target):
    path = past.project / target
    if not path.exists():
        path.write_text("<!doctype html><p>my own notes")
    before = path.read_bytes()
    done = past.grove("stats", "--html", target)
    assert (done.code, done.stdout) == (1, "")
    assert f"{target} is there and no page of grove's" in done.stderr
    assert path.read_bytes() == before


def a_line(number, **fields):
    known = {"v": 1, "ts": f"2030-01-02T10:{number:02}:00Z", "grove": "0.1.0"}
    return json.dumps({**known, **fields}) + "\n"


def fill(world):
    """A log with something of everything that status counts."""
    world.learning("cl_one", "OrderStore.export() runs one query per order unless prefetched")
    world.learning("cl_two", "An archived learning about orders", status="archived")
    uses = [{"event": "surfaced", "session_id": f"s{number}"} for number in range(4)]
    uses += [{"event": "referenced", "session_id": "s1"}]
    lines = [a_line(number, learning_id="cl_one", **use) for number, use in enumerate(uses)]
    done = {"event": "reflection", "session_id": "s1", "candidates": 5, "accepted": 2}
    lines.append(a_line(20, **done))
    # What was refused as a whole and sent again is no second reflection.
    lines.append(a_line(19, **done | {"candidates": 1, "accepted": 0}))
    skip = {"event": "skip", "session_id": "s2", "reason": "no time for it", "decider": "user"}
    lines.append(a_line(21, **skip))
    lines.append(a_line(22, event="gate", session_id="s1", outcome="reflected", blocks=1))
    (world.project / ".grove" / "stats.log").write_text("".join(lines))


def test_the_numbers_of_the_project_stand_in_one_line(beads):
    fill(beads)
    numbers = beads.grove("status", "--json").json["statistics"]
    assert numbers == {
        "learnings": 2,
        "active": 1,
        "hit_rate": {"count": 1, "total": 4, "rate": 0.25, "low": 0.0456, "high": 0.6994},
        "reflections": {"submissions": 2, "completed": 1, "candidates": 6, "accepted": 2},
        "skips": {"total": 1, "by_decider": {"user": 1}},
        "cycles": {"reflected": 1},
    }
    assert (
        "So far    1 active learning, used 1 time in 4 showings,"
        " 1 reflection, 2 of 6 candidates accepted, 1 skip\n"
    ) in beads.grove("status").stdout


def test_no_rate_is_rounded_to_none_or_all_and_few_uses_are_no_trend():
    rates = (0, 0.001, 0.345, 0.996, 1)
    assert [percent(rate) for rate in rates] == ["0 %", "1 %", "34 %", "99 %", "100 %"]
    assert share_of(Share(1, 4), "showings") == "1 of 4 showings, 25 % (5–70 %)"
    assert trend_of(Share(9, 10), Share(5, 10)) == "▲"
    assert trend_of(Share(52, 100), Share(50, 100)) == "▬"
    assert trend_of(Share(4, 4), Share(0, 10)) == ""


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_dashboard_fits_a_terminal_and_is_plain_when_piped(name):
    for width in (60, 80, 250):
        lines = ANSI.sub("", dashboard(EXAMPLES[name], width=width, terminal=True)).splitlines()
        assert max(cell_len(line) for line in lines) <= min(width, 120)
    text = dashboard(EXAMPLES[name])
    assert not {"\x1b", "─"} & set(text)
    assert all(line == line.rstrip() and cell_len(line) <= 80 for line in text.splitlines())
    shown = dashboard(EXAMPLES["rich"], width=80, terminal=True)
    assert titles_in(ANSI.sub("", shown)) == TITLES
    assert {"▲", "▼", "▬", "▃"} <= set(shown)


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_page_is_whole_and_small_and_loads_nothing(name):
    statistics, learnings = EXAMPLES[name], examples.readable_examples(50)
    known = [one.learning for one in learnings]
    page = html_page(statistics, insights_of(statistics), known, learnings, examples.HOSTILE)
    text = "".join(page)
    outline = Outline(text)
    assert len(text) < 200_000
    assert outline.tags.count("script") == outline.tags.count("style") == 1
    assert outline.tags.count("details") >= len(learnings)
    assert not {"img", "link", "iframe", "object", "base", "form"} & set(outline.tags)
    names = {attribute for _, attribute, _ in outline.attributes}
    assert not {"src", "style", "action"} & names
    assert not any(attribute.startswith("on") for attribute in names)
    links = {value for _, attribute, value in outline.attributes if attribute == "href"}
    assert all(link.startswith("#") for link in links)
    policy = next(value for _, _, value in outline.attributes if value and "default-src" in value)
    assert "unsafe" not in policy


def test_the_numbers_of_a_project(past):
    done = past.grove("stats")
    assert (done.code, done.stderr) == (0, "")
    assert "15 times in 60 showings, 25 % (16–37 %)" in done.stdout
    assert "1 line cannot be read" in done.stdout
    document = past.grove("stats", "--json").json
    hits = document["usage"]["hits"]
    assert (hits["count"], hits["total"], hits["rate"]) == (15, 60, 0.25)
    assert past.grove("stats", "-q").stdout == f"{IDS[0]}\n"
    narrowed = past.grove("stats", "--json", "--since", "10d").json
    assert 0 < narrowed["usage"]["hits"]["total"] <= 22
    assert narrowed["going_stale"]["count"] == document["going_stale"]["count"]


def test_what_it_costs(beads):
    beads.learning(IDS[0], "OrderStore.export() runs one query per order unless prefetched")
    agent = beads.agent()
    shown = agent.starts()
    agent.closes("bd-1")
    agent.is_blocked()
    agent.is_blocked()
    agent.grove("skip", "nothing new here")
    document = beads.grove("cost", "--json").json
    (session,) = document["sessions"]
    assert abs(session["shown"]["characters"] - len(shown)) <= 2
    assert session["shown"]["tokens"] == session["shown"]["characters"] // 4
    assert (session["showings"], session["stops"], session["refused"]) == (1, 2, 0)
    assert document["hooks"]["start"]["calls"] == 1
    assert document["hooks"]["start"]["median_ms"] == session["milliseconds"] > 0
    (week,) = document["weeks"]
    assert (week["showings"], week["stops"]) == (document["showings"], document["stops"]) == (1, 2)
    assert 150 < week["shown"]["characters"] < len(shown)
    assert 1_000 < week["asked"]["characters"] < 3_000
    assert document["limits"]["max_chars"] == 4_000
    said = beads.grove("cost").stdout
    assert "4,000 characters a start or prompt (retrieval.max_chars)" in said
    assert "session-1" in said
    assert "tokens shown to agents; see grove cost" in beads.grove("stats").stdout


def test_a_digest_of_some_days_and_of_a_branch(world):
    """Texts of learnings are no markup in it and call nobody; the user's own stay theirs."""
    world.git("init", "--quiet")
    world.grove("init", "-y")
    world.grove_home.mkdir(exist_ok=True)
    world.learning(IDS[2], "For me alone", personal=True)
    world.learning(IDS[0], "An older one", created="2020-01-02T10:00:00Z")
    world.git("add", ".grove")
    world.git("commit", "--quiet", "-m", "older")
    world.git("branch", "before")
    world.learning(IDS[1], "Ask @somebody before <b>orders</b> are *closed*")
    used = a_line(1, event="referenced", session_id="s", learning_id=IDS[0], how="kept it short")
    write_file(world.project / ".grove" / "stats" / "20300102-abc.jsonl", used)
    world.git("add", ".grove")
    world.git("commit", "--quiet", "-m", "newer")
    new = [
        f"- `{IDS[1]}`",
        "  > Ask @ somebody before \\< b\\>orders\\< /b\\> are \\*closed\\* – pitfall",
    ]
    branch = world.grove("digest", "--base", "before").stdout.splitlines()
    assert branch[0].endswith("learnings on this branch (against `before`)")
    used = [f"- `{IDS[0]}`", "  > An older one – kept it short"]
    assert branch[1:] == ["", "### New", "", *new, "", "### Used most", "", *used]
    days = world.grove("digest", "--since", "2021-01-01").stdout.splitlines()
    used = [f"- `{IDS[0]}`", "  > An older one – used 1×"]
    assert days[1:11] == ["", "### New", "", *new, "", "### Used most", "", *used]
    assert world.grove("digest", "-q", "--base", "before").stdout == f"{IDS[1]}\n"
    assert "Nothing to tell." in world.grove("digest", "--base", "HEAD").stdout
    for base in ("nothing", "--output=x"):
        assert world.grove("digest", f"--base={base}").code == 1
