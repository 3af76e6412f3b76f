"""The doubles of servers can be imported by their names."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "servers"))
