"""A stranger's `reference.py` behind its task: one caged process answers for all its functions, and is started again.

It has the standard library, numpy, ml_dtypes, our `tasks` and `records`, a copy of the task's recorded answers where
there are some, and a folder of its own; no network, no file of the user, no process. Its answers are arrays of checked
types, shapes and sizes (tasks/array_file.py). Whatever goes wrong in there is a TaskError; a starved host is the
machine's fault.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from records import scratch_folder
from records.errors import ReferenceTooLarge, ScientistError, TaskError
from records.outside_text import decoded
from records.stopping import StopSignal
from sandbox.cage.confinement import Cage
from sandbox.cage.python_child import ENVIRONMENT, python_child
from sandbox.process import Completed, ProcessLimits, clean, run
from tasks.array_file import read_arrays, write_arrays
from tasks.recorded import FILE
from tasks.served import MOST_ANSWER_BYTES, joined, split
from tasks.task import Array, Case, Tensors

PACKAGES = ("numpy", "ml_dtypes", "records", "tasks")
SECONDS = 60  # of one process; a user may allow more
LEAST_GIB, SHARE = 1.5, 0.75  # of memory: what it may take at least, and its share of the machine's
CGROUP = Path("/sys/fs/cgroup/memory.max")
FRESH_S = 5.0  # spent on earlier questions, after which the next one has a process to itself
TRIES = 2
_HIGHER = "; where it needs more, set KERNEL_SCIENTIST_TASK_"
_ENDS = {
    "folder": "fills its folder",
    "threads": "starts too many threads",
    "stalled": "waits for something that never comes",
}


def machine_gib() -> float:
    """Give the memory that a reference may take: three quarters of the machine's, or of what this process may have."""
    most = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with contextlib.suppress(OSError, ValueError):  # no such group, or "max"
        most = min(most, int(CGROUP.read_text(encoding="ascii")))
    return max(LEAST_GIB, SHARE * most / (1 << 30))


def limits(seconds: int = SECONDS, gib: float | None = None) -> ProcessLimits:
    """Set the limits of a task's process; without `gib` it may take the machine's memory."""
    resident = int((machine_gib() if gib is None else gib) * (1 << 30))
    return ProcessLimits(
        cpu_s=seconds,
        data_bytes=resident + (400 << 20),  # asked for, in use or not
        file_bytes=8 << 30,
        resident_bytes=resident,
        folder_bytes=16 << 30,
        threads=32,
        idle_s=30.0,
        patience_s=86400.0,
    )


LIMITS = limits()


class _Process:
    """One caged process and the thread that watches it."""

    def __init__(self, cage: Cage, limits: ProcessLimits) -> None:
        self.folder = scratch_folder.make("task")
        self.completed: Completed | None = None
        self.fault: ScientistError | None = None
        self.spent_s = 0.0  # on questions that it has answered
        read, self._ask = os.pipe()
        self._tell, write = os.pipe()
        view, argv = python_child(PACKAGES, "tasks.served", str(read), str(write))
        view = replace(view.with_folder(self.folder), descriptors=(read, write))
        self._stop = StopSignal()
        self._run = partial(
            run, argv, cwd=self.folder, env=ENVIRONMENT, limits=limits, cage=cage, view=view, stop=self._stop
        )
        self._ends = (read, write)
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        try:
            self.completed = self._run()
        except ScientistError as error:
            self.fault = error
        finally:
            for end in self._ends:
                os.close(end)  # whoever waits for an answer sees the end of it

    def exchange(self, question: Mapping[str, Any]) -> dict[str, Any] | None:
        """Ask, and return the answer; None when the process has ended. ValueError for an answer that is none."""
        started = time.monotonic()
        with contextlib.suppress(BrokenPipeError):
            os.write(self._ask, json.dumps(question).encode() + b"\n")
        line = bytearray()
        while not line.endswith(b"\n"):
            part = os.read(self._tell, 1 << 16)
            line += part
            if not part:
                self._thread.join()
                return None
            if len(line) > MOST_ANSWER_BYTES:
                raise ValueError("its answer is too long")
        answer = decoded(line)
        if not isinstance(answer, dict):
            raise ValueError("its answer is of no known form")
        self.spent_s += time.monotonic() - started
        return answer

    def end(self) -> None:
        """End it, whatever it is at, and leave nothing of it."""
        self._stop.ask()
        with contextlib.suppress(OSError):
            os.close(self._ask)
        self._thread.join()
        with contextlib.suppress(OSError):
            os.close(self._tell)
        scratch_folder.remove(self.folder)


class TaskChild:
    """The functions of one `reference.py`, each a question to its process. Safe for threads."""

    def __init__(self, path: Path, code: str, cage: Cage, limits: ProcessLimits = LIMITS, answers: bytes = b"") -> None:
        """`path` is for messages; nothing runs before the first question. `answers`: the bytes of recorded ones."""
        self._path, self._code, self._cage, self._limits, self._answers = path, code, cage, limits, answers
        self._processes: list[_Process] = []
        self._lock = threading.Lock()
        self._finalizer = weakref.finalize(self, _end_all, self._processes)

    def functions(self) -> dict[str, Callable[..., Any]]:
        """List the functions that the file has, by name; TaskError when it cannot be loaded."""
        questions: dict[str, Callable[..., Any]] = {
            "make_inputs": lambda case, rng: self._tensors("make_inputs", case, {}, rng),
            "reference": lambda inputs, case: self._tensors("reference", case, inputs),
            "baseline": lambda inputs, case: self._tensors("baseline", case, inputs),
            "in_order": lambda inputs, case: self._tensors("in_order", case, inputs),
            "variants": lambda inputs, case, rng: self._families("variants", case, inputs, rng),
            "shortcuts": lambda inputs, case: self._families("shortcuts", case, inputs),
            "admit": lambda inputs, case, ratio: self._families("admit", case, inputs, ratio=ratio),
            "check": self._check,
            "within": self._within,
        }
        with self._lock:
            names = self._patiently(lambda process: process.exchange(self._load(process))).get("functions")
        return {name: questions[name] for name in names if name in questions} if isinstance(names, list) else {}

    def close(self) -> None:
        """End the process; the next question starts another."""
        with self._lock:
            _end_all(self._processes)

    def _tensors(
        self, do: str, case: Case, inputs: Tensors, rng: np.random.Generator | None = None
    ) -> dict[str, Array]:
        return self._families(do, case, inputs, rng).get("", {})

    def _families(
        self, do: str, case: Case, inputs: Tensors, rng: np.random.Generator | None = None, ratio: float | None = None
    ) -> dict[str, dict[str, Array]]:
        with self._lock:
            answer, arrays = self._ask(do, case, {"inputs": inputs}, rng, ratio)
        names = answer.get("families")
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise self._fault(f"{do} gives no answer of a known form")
        return {name: split(name, arrays) for name in names}

    def _check(self, inputs: Tensors, outputs: Tensors, case: Case) -> tuple[bool, str]:
        with self._lock:
            answer, _ = self._ask("check", case, {"inputs": inputs, "outputs": outputs}, None)
        return answer.get("right") is True, _plain(answer.get("message"))

    def _within(self, inputs: Tensors, drawn: Tensors, case: Case) -> dict[str, Array]:
        with self._lock:
            _, arrays = self._ask("within", case, {"inputs": inputs, "drawn": drawn}, None)
        return split("", arrays)

    def _ask(
        self,
        do: str,
        case: Case,
        families: Mapping[str, Tensors],
        rng: np.random.Generator | None,
        ratio: float | None = None,
    ) -> tuple[dict[str, Any], dict[str, Array]]:
        """Ask one question with its arrays; TaskError where the task is at fault."""
        answered: dict[str, Array] = {}

        def put(process: _Process) -> dict[str, Any] | None:
            question_file, answer_file = (process.folder / f"{kind}-{secrets.token_hex(8)}" for kind in ("to", "from"))
            try:
                question = {
                    "do": do,
                    "case": {**asdict(case), "dims": dict(case.dims), "scalars": dict(case.scalars)},
                    "rows": write_arrays(question_file, joined(families)),
                    "arrays": question_file.name,
                    "into": answer_file.name,
                    "rng": None if rng is None else rng.bit_generator.state,
                    "ratio": ratio,
                }
                answer = process.exchange(question)
                if answer is not None and "rows" in answer:
                    answered.update(read_arrays(answer_file, answer["rows"]))
                return answer
            finally:
                question_file.unlink(missing_ok=True)
                answer_file.unlink(missing_ok=True)

        return self._patiently(put), answered

    def _patiently(self, put: Callable[[_Process], dict[str, Any] | None]) -> dict[str, Any]:
        """Ask, and once more in a new process where the first has ended for another reason than its limits."""
        for _ in range(TRIES):
            process, begun = self._process(), time.monotonic()
            try:
                answer = put(process)
            except (ValueError, OSError, RecursionError) as error:
                _end_all(self._processes)
                raise self._fault(f"gives no usable answer ({error})") from None
            if answer is not None:
                if "error" in answer:
                    kind = ReferenceTooLarge if answer.get("is_memory") is True else TaskError
                    raise kind(_plain(answer["error"]))
                return answer
            _end_all(self._processes)
            if process.completed is not None and process.completed.end in ("cpu", "memory"):
                break  # it began with nearly all that it may take
            if time.monotonic() - begun > self._limits.idle_s / 2:
                break  # nor was it ended for what came before the question
        if process.fault is not None:
            raise process.fault
        completed = process.completed
        how = self._limit(completed.end) if completed is not None else ""
        if completed is not None and completed.end == "memory":
            raise ReferenceTooLarge(f"{self._path} {_plain(how)}")
        raise self._fault(how or f"ended its process with status {completed.returncode if completed else 'unknown'}")

    def _limit(self, end: str) -> str:
        """Name the limit that has ended a process, in words; empty where none has."""
        if end == "cpu":
            return f"takes more than {self._limits.cpu_s} s of processor time{_HIGHER}SECONDS"
        if end == "memory":
            gib = self._limits.resident_bytes / (1 << 30)
            return f"takes more than {gib:.3g} GiB of memory{_HIGHER}GIB"
        return _ENDS.get(end, "")

    def _process(self) -> _Process:
        if self._processes and self._processes[0].spent_s > FRESH_S:
            _end_all(self._processes)
        if not self._processes:
            process = _Process(self._cage, self._limits)
            self._processes.append(process)
            answer = process.exchange(self._load(process))
            if answer is not None and "error" in answer:
                raise TaskError(_plain(answer["error"]))
        return self._processes[0]

    def _load(self, process: _Process) -> dict[str, str]:
        name = f"code-{secrets.token_hex(8)}.py"
        with (process.folder / name).open("x", encoding="utf-8") as file:
            file.write(self._code)
        if self._answers:
            (process.folder / FILE).write_bytes(self._answers)
        return {"do": "load", "path": str(self._path), "code": name, "answers": FILE if self._answers else ""}

    def _fault(self, failure: str) -> TaskError:
        return TaskError(f"{self._path} {_plain(failure)}")


def _end_all(processes: list[_Process]) -> None:
    while processes:
        processes.pop().end()


def _plain(text: object) -> str:
    """Put a stranger's words on one line without control characters, at most 500 characters."""
    return " ".join(clean(str(text)).split())[:500]
