"""What is imported before a database is asked for anything: not its driver."""

import subprocess
import sys

import pytest

HEAVY = ("psycopg", "psycopg_binary", "ssl", "asyncio", "rich_click")


@pytest.mark.parametrize("module", ["address", "store", "embedding", "migrations"])
def test_the_driver_is_imported_when_a_connection_is_opened(module):
    code = f"import sys, grove_backend_postgres.{module}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], text=True, capture_output=True, check=True
    )
    assert set(HEAVY).isdisjoint(done.stdout.split())
