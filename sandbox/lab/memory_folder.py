"""The folder of the lab's short-lived files: in memory while there is ample room, else in the cache."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

from records.errors import LabError

SHARED = Path("/dev/shm")
SPARE_BYTES = 256 << 20  # left to others, beside twice what is asked for
SWEPT_S = 2.0  # between two looks for what is left there
_swept = dict[Path, float]()


def memory_folder(cache: Path, nbytes: int) -> Path:
    """Find a folder with room for so many bytes; LabError when there is none to write to."""
    try:
        about = os.statvfs(SHARED)
        if about.f_bavail * about.f_frsize > 3 * nbytes + SPARE_BYTES and os.access(SHARED, os.W_OK):
            _sweep(SHARED)
            return SHARED
        folder = cache / "lab" / "work"
        folder.mkdir(parents=True, exist_ok=True)
        return folder
    except OSError as error:
        raise LabError(f"the lab has no folder to work in ({error.strerror}); check {cache}") from None


def prefix() -> str:
    """Every name there begins with it, so that what a killed process has left can be removed."""
    return f"ks-lab-{os.getpid()}-"


def _sweep(folder: Path) -> None:
    """Remove what processes that were killed have left in memory."""
    if time.monotonic() < _swept.get(folder, 0.0) + SWEPT_S:
        return
    _swept[folder] = time.monotonic()
    ended = dict[str, bool]()  # by number: one process may have hundreds of names there
    for name in os.listdir(folder):  # noqa: PTH208 - a Path for each takes longer
        owner = name.removeprefix("ks-lab-").partition("-")[0] if name.startswith("ks-lab-") else ""
        if owner not in ended:
            ended[owner] = owner.isdigit() and not Path("/proc", owner).exists()
        if not ended[owner]:
            continue
        left = folder / name
        if left.is_dir():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)
