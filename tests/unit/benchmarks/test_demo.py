from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from benchmarks.demo import watch

GROW = "import time; data = bytearray(b'x') * 80_000_000; time.sleep(0.5)"
PARENT = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]], check=True); print('done')"


@pytest.mark.slow
def test_memory_is_that_of_the_command_and_all_its_children(tmp_path: Path) -> None:
    _, bare, _ = watch([sys.executable, "-c", PARENT, "import time; time.sleep(0.5)"], tmp_path, os.environ)
    _, grown, out = watch([sys.executable, "-c", PARENT, GROW], tmp_path, os.environ)
    assert out == "done\n"
    assert 70 < grown - bare < 120
