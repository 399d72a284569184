"""Facts of a task that are measured by computing with it, kept in a folder so that they are measured once.

The name of a task's file says all that such a fact rests on: the task's fields, its functions and what they give on a
small case, the code of this package, and NumPy's version. A test's task with another function has another file.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import fields
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any, TypeVar, cast

import numpy as np

from records.computed_once import computed_once
from records.errors import TaskError
from tasks.loader import TASK_FAULTS
from tasks.task import Case, Task, Tensors

Fact = TypeVar("Fact")
PLACES = frozenset({"folder", "seeds"})  # fields that say where a task lies


class KeptFacts:
    """The facts of one task, as JSON values. Safe for threads; of two processes that write, one may measure again."""

    def __init__(self, task: Task, cases: Callable[[], Sequence[Case]], folder: Path | None) -> None:
        """Take small `cases`, by which functions are told apart; without a folder nothing is written."""
        self._task, self._cases, self._folder = task, cases, folder
        self._lock = threading.Lock()

    def get(self, name: str, measure: Callable[[], Fact]) -> Fact:
        """Return a fact by its name, measured where it is not known; lists come back as lists."""
        with self._lock:  # whoever measures does without it: two threads may measure the same
            if name in self._facts_by_name:
                return cast(Fact, self._facts_by_name[name])
        fact = measure()
        with self._lock:
            kept_fact = cast(Fact, self._facts_by_name.setdefault(name, fact))
            self._write()
        return kept_fact

    @computed_once
    def _facts_by_name(self) -> dict[str, Any]:
        if self._path is not None:
            with suppress(OSError, ValueError):
                facts = json.loads(self._path.read_text(encoding="utf-8"))
                return facts if isinstance(facts, dict) else {}
        return {}

    def _write(self) -> None:
        if self._path is None:
            return
        part = self._path.with_suffix(f".{os.getpid()}.part")
        with suppress(OSError, TypeError):  # a folder that cannot be written; a fact that is no JSON stays in memory
            part.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(json.dumps(self._facts_by_name), encoding="utf-8")
            part.replace(self._path)

    @computed_once
    def _path(self) -> Path | None:
        if self._folder is None:
            return None
        try:
            with np.errstate(all="ignore"):
                parts = _parts(self._task, self._cases())
        except (TaskError, *TASK_FAULTS):
            return None
        digest = hashlib.sha256()
        for part in (_code().encode(), np.__version__.encode(), *parts):
            digest.update(len(part).to_bytes(8, "little") + part)
        return self._folder / f"{digest.hexdigest()}.json"


def _parts(task: Task, cases: Sequence[Case]) -> list[bytes]:
    """List a task's fields, the code of its functions, and what they give on these cases."""
    parts = []
    for field in fields(task):
        value = getattr(task, field.name)
        if callable(value):
            code = getattr(value, "__code__", None)
            parts.append(_stable_text(code).encode())
        elif field.name not in PLACES:
            parts.append(f"{field.name}={_stable_text(value)}".encode())
    for case in cases:
        inputs = task.draw(case)
        tensor_groups: list[Tensors] = [inputs, task.reference(inputs, case), task.baseline(inputs, case)]
        tensor_groups += [task.in_order(inputs, case)] if task.in_order else []
        tensor_groups += (
            list(task.variants(inputs, case, np.random.default_rng(case.seed)).values()) if task.variants else []
        )
        parts += [np.ascontiguousarray(array).tobytes() for tensors in tensor_groups for array in tensors.values()]
    return parts


def _stable_text(value: object) -> str:
    """Write a value as text that is the same in every process: no addresses, no order that a process draws."""
    if isinstance(value, CodeType):
        return _stable_text((value.co_code, value.co_names, value.co_consts))
    if isinstance(value, tuple):
        return f"({','.join(map(_stable_text, value))})"
    if isinstance(value, frozenset | set):
        return f"{{{','.join(sorted(map(_stable_text, value)))}}}"
    return repr(value)


@cache
def _code() -> str:
    """Compute the SHA-256 over the modules of this package, whose rules decide what is measured."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
