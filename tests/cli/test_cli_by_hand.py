"""`grove add`, `edit` and `rm`: what a person does with a learning."""

import pytest

from grove_core.quotation import NOTE

SUMMARY = "Prices are kept in whole cents everywhere"
WHY = "Sums of floats were off by a cent in March; shop/price.py formats them at the edge."


@pytest.fixture
def shop(world):
    world.initialise()
    return world


def added(world, summary=SUMMARY, why=WHY, *words, code=0):
    done = world.grove("add", summary, "--why", why, "--json", *words)
    assert done.code == code, done.stderr
    return done.json


def edit(world, script, learning_id):
    """An editor that a person has: sed."""
    return world.grove("edit", learning_id, EDITOR=f"sed -i {script}")


def test_a_person_adds_edits_and_archives(shop):
    words = ("--file", "shop/price.py", "--category", "domain", "--tag", "prices")
    assert added(shop, SUMMARY, WHY, "--dry-run", *words)["dry_run"]
    assert shop.grove("list", "--json").json["count"] == 0
    learning_id = added(shop, SUMMARY, WHY, *words)["id"]
    shown = shop.grove("show", learning_id, "--json").json
    assert (shown["summary"], shown["detail"], shown["category"]) == (SUMMARY, WHY, "domain")
    assert (shown["context_files"], shown["tags"]) == (["shop/price.py"], ["prices"])
    head = f"{learning_id}  domain  {shown['timestamp'][:10]}"
    listed = shop.grove("list").stdout.splitlines()
    assert listed == [NOTE, head, f"> {SUMMARY}", "> shop/price.py"]
    assert edit(shop, "s/March/April/", learning_id).code == 0
    assert "April" in shop.grove("show", learning_id, "--json").json["detail"]
    done = shop.grove("rm", learning_id, "--reason", "prices are decimals now")
    assert done.code == 0
    assert shop.grove("list", "--json").json["count"] == 0
    assert edit(shop, "s/April/May/", "cl_nothing").code == 1
    assert "there is no terminal" in shop.grove("edit", learning_id).stderr


def test_files_are_named_from_the_root_of_the_project_and_tags_have_commas_between(shop):
    folder = shop.project / "shop"
    (folder / "parts").mkdir(parents=True)
    (folder / "price.py").write_text("")
    words = ("--why", WHY, "--json", "--tag", "Money,Cents", "--tag", "shop")
    words += ("--file", "../price.py", "--file", "../new.py", "--file", "shop/gone.py")
    learning_id = shop.grove("add", SUMMARY, *words, cwd=folder / "parts").json["id"]
    shown = shop.grove("show", learning_id, "--json").json
    assert shown["context_files"] == ["shop/price.py", "shop/new.py", "shop/gone.py"]
    assert shown["tags"] == ["money", "cents", "shop"]


def test_what_cannot_be_kept_is_said(shop):
    added(shop)
    assert "says it already" in added(shop, code=1)["error"]
    assert "give 10 to 200" in added(shop, "short", code=1)["error"]
    token = "ghp_" + "a1B2" * 9
    assert (
        "secret" in added(shop, "The staging token is this one", f"It is {token}.", code=1)["error"]
    )
    # The write gate gives a person a hint, and no more.
    vague = added(shop, "Always write good code with care", "It is important to write good code.")
    assert any("an agent's would be refused" in note for note in vague["notes"])


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("s/active/archived/", "has another status"),
        ("s/###/Gone/", "is not found any more"),
        (f"s/cent/ghp_{'a1B2' * 9}/", "secret"),
    ],
)
def test_an_edit_that_spoils_the_learning_is_taken_back(shop, script, said):
    learning_id = added(shop)["id"]
    before = shop.grove("show", learning_id, "--json").json
    done = edit(shop, script, learning_id)
    assert (done.code, said in done.stderr) == (1, True)
    assert shop.grove("show", learning_id, "--json").json["detail"] == before["detail"]
    assert (shop.grove_home / "backups" / f"{learning_id}.md").is_file()


def test_a_piece_of_an_id_does_that_one_learning_has(shop):
    one = added(shop)["id"]
    two = added(shop, "Exports stream rows through csv.writer", WHY.replace("price", "export"))[
        "id"
    ]
    for piece in (one[-6:], one[:-1] if one[:-1] not in two else one[-5:]):
        assert shop.grove("show", piece, "--json").json["id"] == one
    done = shop.grove("show", "cl_2")
    assert (done.code, one in done.stderr, two in done.stderr) == (1, True, True)
    assert shop.grove("rm", two[-6:], "--reason", "gone", "-q").stdout == f"{two}\n"


def test_those_who_look_get_the_newest_session(beads):
    for name in ("session-older", "session-newer"):
        beads.agent(name).starts()
    done = beads.grove("trace", "--json")
    assert done.json["session_id"] == "session-newer"
    assert "this is session session-newer, the newest" in done.stderr
    assert beads.grove("trace", "session-o", "--json").json["session_id"] == "session-older"
    assert beads.grove("trace", "session-", "--json").code == 1
    assert beads.grove("skip", "nothing was learned here").code == 1
