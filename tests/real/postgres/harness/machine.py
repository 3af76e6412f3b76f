"""A machine of a team at work: writes learnings through the backend, however the database does.

    python machine.py URL HOME NUMBER COUNT

Prints the ids that it was told are kept, one a line, each as soon as it knows.
"""

import sys
from pathlib import Path

from grove_backend_postgres.backend import PostgresBackend
from grove_backend_postgres.plugin import PostgresSettings
from grove_core import BackendContext, ReceiptStatus
from grove_core.testing.samples import example_learning


def main(url, home, number, count):
    home = Path(home)
    settings = PostgresSettings(url=url, project="shop")
    backend = PostgresBackend(BackendContext(root=home, home=home, settings=settings))
    first = int(number) * int(count)
    for one in range(first, first + int(count)):
        receipt = backend.write(example_learning(one))
        assert receipt.status is not ReceiptStatus.DUPLICATE
        print(receipt.learning_id, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
