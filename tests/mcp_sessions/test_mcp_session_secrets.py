"""A secret that somebody has put into the record by hand is found, as in any other file."""

import json


def test_a_secret_in_the_record_is_named_with_its_line(memory):
    world = memory.world
    memory.teach(1, 2)
    record = world.project / ".grove" / "mcp.jsonl"
    first, second = record.read_text().splitlines()
    document = json.loads(second)
    token = "ghp_" + "Zx81kQmP0sLr4TvW9yBn2CdE6fGh3JkLmNoP"
    document["learning"]["detail"] += f"\n\nexport GITHUB_TOKEN={token}"
    record.write_text(f"{first}\n{json.dumps(document)}\n")
    done = world.grove("doctor")
    assert f"{record}:2" in done.stdout
    assert token not in done.stdout
