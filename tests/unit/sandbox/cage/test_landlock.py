from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.cage import landlock

ROOT = Path(__file__).parents[4]
PROGRAM = """
import sys, os
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from sandbox.cage.landlock import restrict
from sandbox.cage.view import View
given, other = Path(sys.argv[2]), Path(sys.argv[3])
print(restrict(View(readable=(given / "read",), writable=(given / "write",))))
def tried(what):
    try:
        what()
        return "yes"
    except OSError:
        return "no"
print(tried(lambda: (given / "read" / "file").read_text()), tried(lambda: (given / "read" / "new").write_text("")))
print(tried(lambda: (given / "write" / "new").write_text("")), tried(lambda: os.mkfifo(given / "write" / "fifo")))
print(tried(lambda: other.read_text()), tried(lambda: os.listdir(given)))
"""


def test_masks_grow_with_the_version() -> None:
    assert landlock.masks(0) == (0, 0, 0)
    assert landlock.masks(1) == (0x1FFF, 0, 0)
    assert landlock.masks(4) == (0x7FFF, 3, 0)
    assert landlock.masks(6) == (0xFFFF, 3, 3)


@pytest.mark.skipif(not landlock.version(), reason="this kernel has no Landlock")
def test_a_process_keeps_its_view_and_nothing_else(tmp_path: Path) -> None:
    for name in ("read", "write"):
        (tmp_path / name).mkdir()
    (tmp_path / "read" / "file").write_text("given")
    (tmp_path / "other").write_text("not given")
    argv = [sys.executable, "-c", PROGRAM, str(ROOT), str(tmp_path), str(tmp_path / "other")]
    completed = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert completed.stdout.split("\n")[:4] == ["True", "yes no", "yes no", "no no"]
