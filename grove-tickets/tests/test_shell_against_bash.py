"""What the reader of shell text finds is held against what a real bash runs."""

from random_scripts import try_scripts


def test_what_bash_runs_is_found(tmp_path):
    # Thousands are tried in tests/real/tickets.
    try_scripts(25, tmp_path)
