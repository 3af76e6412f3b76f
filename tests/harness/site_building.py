"""The documentation's site, built anew."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def build(folder):
    """Builds the site, where a warning is an error.

    The network is out of reach: whatever would be fetched has to be there already.
    """
    unreachable = "http://127.0.0.1:9"
    proxies = {f"{scheme}_proxy": unreachable for scheme in ("http", "https", "all")}
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=ROOT,
        env={**os.environ, **proxies, "NO_MKDOCS_2_WARNING": "1", "SITE_URL": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr, done.stderr
    return folder
