"""Folders in memory: what killed processes left there goes away."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np

from tests.support.lab_bench import execute, launch


def test_what_a_killed_run_left_in_memory_is_swept() -> None:
    folder, file = Path("/dev/shm/ks-lab-999999999-test"), Path("/dev/shm/ks-lab-999999999-file")
    folder.mkdir(exist_ok=True)
    file.touch()
    source = "__global__ void k(int* y) { y[threadIdx.x] = 1; }"
    for _ in range(200):  # it is looked for every few seconds only
        execute(source, [launch("k", ["y"])], {}, {"y": np.zeros(64, np.int32)})
        if not folder.exists():
            break
        time.sleep(0.05)
    assert not folder.exists() and not file.exists()
    assert not [path for path in Path("/dev/shm").glob(f"ks-lab-{os.getpid()}-*") if path.is_dir()]
