"""Named arrays between two processes that do not trust each other: plain bytes in a file, described by checked words.

No pickle and no format that numpy would interpret: an array's type is one of ours by name, its size follows from its
shape, and the file must be exactly as long as all of them.
"""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tasks.dtypes import NUMPY, Array

MOST_BYTES = 8 << 30
MOST_ARRAYS = 256
MOST_DIMS = 8
MOST_LETTERS = 200  # of a name
_NAMES = {dtype: name for name, dtype in NUMPY.items()}


def write_arrays(path: Path, arrays: Mapping[str, Array]) -> list[list[Any]]:
    """Write all of them to a new file, never to one that is there; rows of name, type, shape and order."""
    rows: list[list[Any]] = []
    handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        for name, array in arrays.items():
            if not isinstance(array, np.ndarray) or array.dtype not in _NAMES:
                raise ValueError(
                    f"{name!r} is {getattr(array, 'dtype', type(array).__name__)}, no array of a known type"
                )
            order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
            flat = np.ravel(array, order="F" if order == "F" else "C")
            file.write(np.ascontiguousarray(flat).view(np.uint8).data)
            rows.append([name, _NAMES[array.dtype], list(array.shape), order])
    return rows


def read_arrays(path: Path, rows: object) -> dict[str, Array]:
    """Read the arrays of a file, as its rows say; ValueError for what is not exactly that, OSError as it comes."""
    described = [_row(row) for row in rows] if isinstance(rows, list) and len(rows) <= MOST_ARRAYS else None
    if described is None:
        raise ValueError("its arrays are not described")
    sizes = [math.prod(shape) * dtype.itemsize for _, dtype, shape, _ in described]
    if sum(sizes) > MOST_BYTES:
        raise ValueError(f"its arrays take {sum(sizes)} bytes, more than {MOST_BYTES}")
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb", buffering=0) as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1 or status.st_size != sum(sizes):
            raise ValueError("its arrays are not in the file that should hold them")
        arrays = {}
        for (name, dtype, shape, order), size in zip(described, sizes, strict=True):
            raw = np.fromfile(file, np.uint8, size)
            if raw.size != size:
                raise ValueError("its arrays changed while they were read")
            arrays[name] = raw.view(dtype).reshape(shape, order="F" if order == "F" else "C")
    return arrays


def _row(row: object) -> tuple[str, np.dtype[Any], tuple[int, ...], str]:
    if not (isinstance(row, list) and len(row) == 4):
        raise ValueError("its arrays are not described")
    name, dtype, shape, order = row
    if not isinstance(name, str) or len(name) > MOST_LETTERS or not isinstance(dtype, str) or dtype not in NUMPY:
        raise ValueError("an array has no proper name or type")
    if not isinstance(shape, list) or len(shape) > MOST_DIMS or order not in ("C", "F"):
        raise ValueError(f"the array {name[:40]!r} has no proper shape")
    if not all(isinstance(n, int) and not isinstance(n, bool) and 0 <= n < 1 << 40 for n in shape):
        raise ValueError(f"the array {name[:40]!r} has no proper shape")
    return name, NUMPY[dtype], tuple(shape), str(order)
