"""Turns at a GPU: tests share it, but for those that need it alone, which wait for the others and keep them waiting."""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

# They keep something in LDS from call to call. Beside another program's kernels nothing stays there: they do the honest
# work and are rightly accepted.
ALONE = ("A9_lds_call_counter", "B5_sums_kept_in_lds")


def turns_folder() -> Path:
    """The folder of the locks, the same for all processes of this user's tests."""
    return Path(tempfile.gettempdir()) / f"kernel-scientist-gpu-{os.getuid()}"


@contextlib.contextmanager
def gpu_turn(folder: Path, *, alone: bool) -> Iterator[None]:
    """A turn that others share unless one of them is alone. Who comes first is first: nobody passes one that waits."""
    folder.mkdir(mode=0o700, exist_ok=True)
    with (folder / "order").open("w") as order, (folder / "gpu").open("w") as gpu:
        fcntl.flock(order, fcntl.LOCK_EX)
        fcntl.flock(gpu, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        fcntl.flock(order, fcntl.LOCK_UN)
        yield
