from __future__ import annotations

import errno
from dataclasses import replace
from pathlib import Path

import pytest

from records.errors import MachineError
from sandbox.amdgcn.toolchain import build_launcher
from sandbox.cage import landlock
from sandbox.cage.confinement import LEVELS, Cage, candidates
from sandbox.isolation import choose_cage, failure
from tests.support.compiler_cache import toolchain


@pytest.fixture(scope="module")
def launcher() -> Path:
    return build_launcher(toolchain())


def test_the_strongest_rung_that_holds_is_taken(launcher: Path) -> None:
    holding = [cage for cage in candidates(launcher) if not failure(cage, launcher)]
    assert choose_cage(launcher) == holding[0]
    assert holding[-1].level == "limits"


@pytest.mark.skipif(not landlock.version(), reason="this kernel has no Landlock")
def test_python_enters_a_cage_where_there_is_no_launcher(launcher: Path) -> None:
    without = candidates(None)
    assert [cage.level for cage in without] == list(LEVELS[1:])
    assert [failure(cage, launcher) for cage in without] == ["", ""]


def test_a_rung_that_only_claims_to_confine_is_found_out(launcher: Path) -> None:
    class Leaky(Cage):
        def command(self, argv, view, **more):  # type: ignore[no-untyped-def]
            return super().command(argv, view.with_folder(Path("/tmp")), **more)

    if landlock.version():
        assert "could read, write" in failure(Leaky("landlock", (str(launcher),)), launcher)


def test_a_launcher_that_does_not_start_is_no_rung(launcher: Path, tmp_path: Path) -> None:
    for cage in candidates(launcher):
        assert failure(replace(cage, launcher=(str(tmp_path / "none"),)), launcher)
    with pytest.raises(MachineError, match="no program can be confined"):
        choose_cage(tmp_path / "none")


def test_a_moment_without_a_free_process_number_costs_no_level(launcher: Path, tmp_path: Path) -> None:
    for cage in candidates(launcher):
        late = tmp_path / f"late-{cage.level}"
        script = f"echo 'failed {errno.EAGAIN} fork: none is free' >/proc/self/fd/$4"
        first = f"if ! test -e {late}.tried; then : >{late}.tried; {script}; exit 71; fi"
        late.write_text(f'#!/bin/sh\n{first}\nexec {launcher} "$@"\n')
        late.chmod(0o500)
        assert failure(replace(cage, launcher=(str(late),)), launcher) == failure(cage, launcher)
        assert Path(f"{late}.tried").exists()
