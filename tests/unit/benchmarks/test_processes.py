"""Processes of this machine: a child's descendants, its processor time, and its end."""

from __future__ import annotations

import os
import subprocess
import sys

from benchmarks.processes import cpu_s, descendants, kill


def test_descendants_are_listed_the_deepest_first_and_those_killed_are_gone() -> None:
    child = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'print(1, flush=True); input()'])"
    with subprocess.Popen([sys.executable, "-c", child], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"1\n"
        (grandchild,) = descendants(process.pid)
        of_this_test = [pid for pid in descendants(os.getpid()) if pid in (process.pid, grandchild)]
        assert of_this_test == [grandchild, process.pid] and descendants(grandchild) == []
        assert cpu_s(os.getpid()) > 0
        for pid in (grandchild, process.pid):
            kill(pid)
    assert descendants(process.pid) == [] and cpu_s(process.pid) == 0
