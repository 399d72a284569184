"""Files in memory keep what they were given, and their size, whoever holds them."""

from __future__ import annotations

import os

import numpy as np
import pytest

from sandbox.gpu.memory_file import filled_file, memory_file, view, view_to_fill


def test_a_file_holds_what_it_was_given_and_nobody_can_change_it() -> None:
    data = np.arange(300_000, dtype=np.uint32).view(np.uint8)
    handle = filled_file("data", data)
    assert os.pread(handle, data.nbytes + 1, 0) == data.tobytes() == view(handle).tobytes()
    for change in (lambda: os.pwrite(handle, b"x", 0), lambda: os.ftruncate(handle, 1), lambda: view_to_fill(handle)):
        with pytest.raises(PermissionError):
            change()
    os.close(handle)


def test_outputs_can_be_filled_but_not_cut() -> None:
    """A read of a mapped file that another process has cut would end in SIGBUS."""
    handle = memory_file("outputs", 5000)
    view_to_fill(handle)[:3] = (1, 2, 3)
    mapped = view(handle)
    assert mapped[:4].tolist() == [1, 2, 3, 0] and len(mapped) == 5000
    for nbytes in (4999, 5001):
        with pytest.raises(PermissionError):
            os.ftruncate(handle, nbytes)
    os.close(handle)
