"""Strangers' tasks are introduced once, run confined, and refused where that cannot be."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from records.errors import SettingsError
from sandbox.cage.confinement import Cage
from sandbox.task_host import TaskHost
from tasks.loader import FOLDER, load_task
from tests.support.compiler_cache import share_toolchain, toolchain


class Unconfined(TaskHost):
    """A host on a machine that confines nothing."""

    cage = Cage("limits", toolchain().cage.launcher)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return share_toolchain(tmp_path / "cache")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(FOLDER / "transpose", tmp_path / "mine")
    return tmp_path / "mine"


def test_a_folder_is_introduced_once_and_again_when_it_has_changed(folder: Path, cache: Path) -> None:
    notes: list[str] = []
    for _ in range(3):
        load_task(folder, None, TaskHost(cache, notes.append, is_trusted=True))
    assert len(notes) == 1
    assert "was not used here before; it runs confined" in notes[0]
    (folder / "reference.py").write_text((folder / "reference.py").read_text() + "# another\n")
    load_task(folder, None, TaskHost(cache, notes.append, is_trusted=True))
    assert len(notes) == 2


def test_a_shipped_task_needs_no_host(tmp_path: Path) -> None:
    notes: list[str] = []
    assert load_task("transpose", None, Unconfined(tmp_path, notes.append)).name == "transpose"
    assert notes == []


def test_a_machine_that_confines_nothing_wants_it_in_words(folder: Path, cache: Path) -> None:
    with pytest.raises(SettingsError, match="set KERNEL_SCIENTIST_TRUST_TASKS=1"):
        load_task(folder, None, Unconfined(cache, print))
    assert load_task(folder, None, Unconfined(cache, print, is_trusted=True)).name == "transpose"
