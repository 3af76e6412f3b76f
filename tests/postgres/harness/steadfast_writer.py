"""Stores learnings until each has got there: python steadfast_writer.py URL PROJECT NUMBER HOW_MANY.

It does what the queue of the backend does: what could not be delivered is delivered later.
"""

import sys
import time

from grove_backend_postgres.address import parse_address
from grove_backend_postgres.faults import DatabaseUnreachableError
from grove_backend_postgres.store import Store
from grove_core.testing.samples import example_learning

url, project, number, how_many = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
failed = 0
for place in range(how_many):
    learning = example_learning(number * 1000 + place)
    while True:
        try:
            with Store(parse_address(url), project, deadline=time.monotonic() + 5) as store:
                store.add([learning])
            break
        except DatabaseUnreachableError:
            failed += 1
            time.sleep(0.05)
    print(learning.id, flush=True)
print("failed", failed, flush=True)
