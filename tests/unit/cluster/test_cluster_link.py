"""The driver's end where the bridge cannot work: one sentence that says why."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
ASKED = """
import pathlib, sys
from cluster.cluster_link import ClusterAddress, ClusterLink, spec_of
from records.errors import SpoolError

folder = pathlib.Path(sys.argv[1])
address = ClusterAddress("auto", environment={"PYTHONPATH": str(folder)}, log=folder / "ray.log")
link = ClusterLink(address)
try:
    link.open(spec_of("mi300x", str(folder), "limits", False))
except SpoolError as error:
    print(error)
finally:
    link.close()
"""


@pytest.mark.slow
def test_a_bridge_that_ends_leaves_its_last_line_in_the_sentence(tmp_path: Path) -> None:
    (tmp_path / "ray").mkdir()
    (tmp_path / "ray" / "__init__.py").write_text("raise SystemExit('libray.so: wrong ELF class')", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path), *filter(None, sys.path)])}
    words = [sys.executable, "-c", ASKED, str(tmp_path)]
    ran = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=60)
    said = "this machine's Ray cluster was lost or does not answer"
    assert ran.stdout.startswith(said) and "ray.log: " in ran.stdout and "wrong ELF class" in ran.stdout, ran.stderr
    assert len(ran.stdout.splitlines()) == 1
