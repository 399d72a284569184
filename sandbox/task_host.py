"""The place where strangers' tasks run: a caged process for each `reference.py`, made known when it is new here."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from records.computed_once import computed_once
from records.errors import LedgerError, SettingsError, ToolchainError
from records.files import write_whole
from sandbox.amdgcn.toolchain import find_toolchain
from sandbox.cage.confinement import Cage, candidates
from sandbox.process import ProcessLimits
from sandbox.task_child import LIMITS, TaskChild


class TaskHost:
    """Gives `load_task` the functions of a folder that is not shipped, without executing any of it in this process."""

    def __init__(
        self, cache: Path, note: Callable[[str], None], *, is_trusted: bool = False, limits: ProcessLimits = LIMITS
    ) -> None:
        """`cache` remembers which were seen; `is_trusted`: also where files of the user cannot be put out of reach.

        `limits` are for each process.
        """
        self._cache, self._note, self._is_trusted, self._limits = cache, note, is_trusted, limits
        self._children: dict[str, tuple[TaskChild, Mapping[str, Any]]] = {}

    @computed_once
    def cage(self) -> Cage:
        """Choose the strongest confinement that holds here; without the compiler package the one without launcher."""
        try:
            return find_toolchain(self._cache / "toolchain").cage
        except ToolchainError:
            return candidates(None)[0]

    def __call__(self, path: Path, code: str, answers: bytes = b"") -> Mapping[str, Any]:
        """Give the functions of this file, each run in its own process; `answers` are the recorded ones of its task.

        SettingsError where none can be confined.
        """
        digest = hashlib.sha256(f"{path}\0{code}\0".encode() + answers).hexdigest()
        if digest not in self._children:
            if not self.cage.is_strict and not self._is_trusted:
                raise SettingsError(
                    f"{path} is code of a task that is not shipped, and this machine cannot keep it from your files "
                    f"({self.cage.text}); read it, then set KERNEL_SCIENTIST_TRUST_TASKS=1"
                )
            self._introduce(path, code)
            child = TaskChild(path, code, self.cage, self._limits, answers)
            self._children[digest] = child, child.functions()
        return self._children[digest][1]

    def _introduce(self, path: Path, code: str) -> None:
        """Say once that this code is new here."""
        marker = self._cache / "tasks-seen" / hashlib.sha256(code.encode()).hexdigest()
        if marker.exists():
            return
        self._note(f"{path} was not used here before; it runs confined: {self.cage.text}")
        try:
            write_whole(marker, f"{path}\n".encode())
        except OSError as error:
            raise LedgerError(
                f"the cache {self._cache} cannot be written to ({error.strerror}); free some space or choose another"
            ) from None
