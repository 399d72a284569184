"""Tasks for commands: shipped ones as they are, folders of strangers with their code in a cage."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from app.screen import note

if TYPE_CHECKING:
    from app.settings import Settings
    from sandbox.cage.confinement import Cage
    from sandbox.task_host import TaskHost
    from tasks.task import Task

LINTER = 1  # of the linter's rules: a task that older ones found sound is looked at again


def open_task(settings: Settings, name_or_path: str, target: str | None = None) -> Task:
    """Open the task for a target, its first one when not given; TaskError or SettingsError in one sentence."""
    from tasks.loader import load_task

    return load_task(name_or_path, target, lambda *asked: _host_of(settings)(*asked))


def open_sound_task(settings: Settings, name_or_path: str, target: str | None = None) -> Task:
    """Open the same; TaskError too for a task that the linter refuses, which judges nothing."""
    from records.errors import LedgerError
    from records.files import write_whole
    from tasks.linter import refuse_weak

    task = open_task(settings, name_or_path, target)
    marker = settings.cache_folder / "tasks-sound" / f"{task.digest}-{LINTER}"
    if not marker.exists():
        refuse_weak(task)
        try:
            write_whole(marker, f"{task.folder}\n".encode())
        except OSError as error:
            raise LedgerError(
                f"the cache {settings.cache_folder} cannot be written to ({error.strerror}); free some space or choose "
                "another"
            ) from None
    return task


def task_cage(settings: Settings) -> Cage:
    """Make the confinement of strangers' Python; SettingsError where none would keep it from the user's files."""
    from records.errors import SettingsError

    cage = _host_of(settings).cage
    if not cage.is_strict and not settings.trust_tasks:
        raise SettingsError(
            f"this machine cannot keep a stranger's code from your files ({cage.text}); read the file, then set "
            "KERNEL_SCIENTIST_TRUST_TASKS=1"
        )
    return cage


def _host_of(settings: Settings) -> TaskHost:
    return _host(settings.cache_folder, settings.trust_tasks, settings.task_seconds, settings.task_gib)


@cache
def _host(folder: Path, is_trusted: bool, seconds: int, gib: float | None) -> TaskHost:
    """One for this process, so that a task's process is started once."""
    from sandbox.task_child import limits
    from sandbox.task_host import TaskHost

    def say(text: str) -> None:
        note(f"kernel-scientist: {text}")

    return TaskHost(folder, say, is_trusted=is_trusted, limits=limits(seconds, gib))
