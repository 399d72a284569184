"""A folder for one request of the executor, and what executes it there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from records import scratch_folder
from sandbox.cage.view import View
from sandbox.lab.memory_folder import prefix
from sandbox.process import Completed, ProcessLimits

Start = Callable[[Sequence[str | Path], ProcessLimits], Completed]  # a process for words: image, folder, stored inputs


@dataclass(frozen=True)
class ExecutionPlace:
    """The folder, and its execution within limits, with a file of inputs beside it or none."""

    folder: Path
    run: Callable[[ProcessLimits, Path | None], Completed]


@contextmanager
def new_place(image: Path, parent: Path, start: Start) -> Iterator[ExecutionPlace]:
    """Make a folder in `parent`, whose request a process of its own executes; remove it afterwards."""
    folder = scratch_folder.make_in(parent, prefix())
    try:
        yield ExecutionPlace(folder, lambda limits, stored: start(words(image, folder, stored), limits))
    finally:
        scratch_folder.remove(folder)


def words(image: Path, folder: Path, stored: Path | None) -> list[str | Path]:
    """List the arguments of an executor for one request."""
    return [image, folder, *([stored] if stored else [])]


def executor_view(program: Path, folder: Path, *stored: Path) -> View:
    """All that the executor sees: itself, the stored inputs, and the folder of its buffers and its result."""
    return View(executable=(program,), readable=stored, writable=(folder,))
