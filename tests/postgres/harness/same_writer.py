"""Stores the same learnings as its like: python same_writer.py URL PROJECT NUMBER HOW_MANY."""

import sys
import time

from grove_backend_postgres.address import parse_address
from grove_backend_postgres.store import Store
from grove_core.testing.samples import example_learning

url, project, _, how_many = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
with Store(parse_address(url), project, deadline=time.monotonic() + 60) as store:
    for place in range(how_many):
        print(len(store.add([example_learning(place)])), flush=True)
