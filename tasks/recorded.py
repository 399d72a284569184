"""Answers of a reference that ran once, kept in a file beside the task and found by the digest of the inputs.

A task of such answers is weaker than others: it has a fixed number of draws for each listed shape, no other shape, and
no answer for inputs that a judge makes. A kernel could recognise the inputs.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from records.errors import TaskError
from records.files import read_strange
from tasks.dtypes import Array, numpy_dtype
from tasks.task import Case

FILE = "golden.npz"
MOST_BYTES = 48 << 20
handed: Path | None = None  # in a task's own process: its copy of the file, whose bytes the judge has verified


@dataclass(frozen=True)
class Draw:
    """One draw that was answered: its digest, and the answers by role and output."""

    key: str
    answers: Mapping[str, Mapping[str, Array]]  # "reference" or "baseline", then the output


def key_of(inputs: Mapping[str, Array], case: Case) -> str:
    """Compute the digest of all inputs with their types and shapes, of the case's dims and of its scalars."""
    digest = hashlib.sha256(repr((sorted(case.dims.items()), sorted(case.scalars.items()))).encode())
    for name in sorted(inputs):
        array = np.ascontiguousarray(inputs[name])
        digest.update(f"\0{name}\0{array.dtype}\0{array.shape}\0".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()[:32]


def draw_of(case: Case, draws: int) -> np.random.Generator:
    """Start the random numbers of a case: one of so many draws for each shape, whatever the seed is."""
    return np.random.default_rng([case.seed % draws, *case.dims.values()])


def archive(draws: Iterable[Draw], more: Mapping[str, Array]) -> bytes:
    """Write the bytes of the file; `more` are arrays that draws begin with."""
    arrays = {f"start/{name}": _plain(array) for name, array in more.items()}
    for draw in draws:
        for role, outputs in draw.answers.items():
            arrays |= {f"{draw.key}/{role}/{name}": _plain(array) for name, array in outputs.items()}
    into = io.BytesIO()
    np.savez(into, allow_pickle=False, **arrays)
    return into.getvalue()


def answer(
    path: Path, inputs: Mapping[str, Array], case: Case, role: str, types: Mapping[str, str]
) -> dict[str, Array]:
    """Read the recorded outputs for these inputs; TaskError where there are none. `types` are those of the outputs."""
    key = key_of(inputs, case)
    try:
        with _opened(path) as arrays:
            return {name: _typed(arrays[f"{key}/{role}/{name}"], kind) for name, kind in types.items()}
    except KeyError:
        raise TaskError(f"{path.parent}: these inputs for {case.name} are none of the recorded ones") from None
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise TaskError(f"{path} holds no recorded answers: {error}") from None


def started(path: Path, name: str) -> Array:
    """Read an array that draws begin with, such as a module's weights."""
    try:
        with _opened(path) as arrays:
            return np.asarray(arrays[f"start/{name}"])
    except (KeyError, OSError, ValueError, zipfile.BadZipFile) as error:
        raise TaskError(f"{path} holds no {name}: {error}") from None


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Open the file beside a task's code, never what a link points to; where the judge handed a copy in, the copy."""
    if handed is not None:
        with np.load(handed, allow_pickle=False) as arrays:
            yield arrays
        return
    with np.load(io.BytesIO(read_strange(path, MOST_BYTES)), allow_pickle=False) as arrays:
        yield arrays


def _plain(array: Array) -> Array:
    """Store the array in a type that the format knows: bits where it is one of the narrow ones."""
    array = np.asarray(array)
    return array.view(f"u{array.dtype.itemsize}") if array.dtype.kind == "V" or array.dtype.num > 23 else array


def _typed(array: Array, kind: str) -> Array:
    return array if array.dtype == numpy_dtype(kind) else array.view(numpy_dtype(kind))
