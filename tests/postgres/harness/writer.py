"""A process that stores learnings one by one: python writer.py URL PROJECT NUMBER HOW_MANY."""

import sys
import time

from grove_backend_postgres.address import parse_address
from grove_backend_postgres.store import Store
from grove_core.testing.samples import example_learning

url, project, number, how_many = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
for place in range(how_many):
    learning = example_learning(number * 1000 + place)
    with Store(parse_address(url), project, deadline=time.monotonic() + 60) as store:
        new = store.add([learning])
    print(learning.id, len(new), flush=True)
