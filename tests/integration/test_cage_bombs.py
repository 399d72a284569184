"""Programs that take without end, on each strict level: each is ended by a limit, and nothing is left of it."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
from functools import cache
from pathlib import Path

import pytest

from sandbox.amdgcn.toolchain import build_launcher
from sandbox.cage.confinement import Cage, candidates
from sandbox.cage.view import View
from sandbox.isolation import failure
from sandbox.process import Completed, ProcessLimits, run
from tests.support.c_program import static_program
from tests.support.compiler_cache import toolchain

LIMITS = ProcessLimits(
    cpu_s=1,
    file_bytes=8 << 20,
    resident_bytes=128 << 20,
    folder_bytes=64 << 20,
    folder_files=500,
    threads=64,
    idle_s=0.5,
    output_bytes=1 << 20,
)
# What ends each: a limit that is looked at, or (None) the kernel's own answer to what it asks for.
BOMBS: dict[str, tuple[str, ...]] = {
    "spin": ("cpu",),
    "ignore": ("cpu",),
    "fork": ("ended",),
    "execute": ("cpu",),
    "output": ("output",),
    "file": ("ended",),
    "sleep": ("stalled",),
    "naps": ("stalled",),
    "silent": ("stalled",),
    "memory": ("memory",),
    "shared": ("ended",),
    "threads": ("threads", "stalled", "memory"),  # their stacks, before the next look
    "files": ("folder",),
    "folders": ("ended",),
    "deep": ("ended",),
    "disk": ("folder",),
    "removed": ("folder",),
    "mapped": ("folder",),
    "stack": ("ended",),
    "sparse": ("ended",),
}
DEAR = ("spin", "ignore", "execute", "threads", "mapped")  # seconds of processor time on each level


@cache
def strict() -> list[Cage]:
    launcher = build_launcher(toolchain())
    return [cage for cage in candidates(launcher) if cage.is_strict and not failure(cage, launcher)]


def explode(name: str, cage: Cage, work: Path, limits: ProcessLimits = LIMITS) -> Completed:
    program = static_program("bombs.c")
    view = View(executable=(program,), writable=(work,))
    return run([str(program), name], cwd=work, env={}, limits=limits, cage=cage, view=view)


def processes_in(work: Path) -> list[str]:
    """Processes that work in this folder."""
    processes = []
    for path in Path("/proc").glob("[0-9]*/cwd"):
        with contextlib.suppress(OSError):
            if path.readlink().is_relative_to(work):
                processes.append(path.parent.name)
    return processes


@pytest.mark.parametrize(
    ("name", "strongest"),
    [
        pytest.param(name, strongest, marks=[] if strongest or name not in DEAR else [pytest.mark.long])
        for name in BOMBS
        for strongest in (True, False)
    ],
)
def test_a_bomb_ends_at_its_limit(name: str, strongest: bool, tmp_path: Path) -> None:
    """On the strongest level of this machine, and on the others."""
    for number, cage in enumerate(strict()[:1] if strongest else strict()[1:]):
        work = tmp_path / str(number)
        work.mkdir()
        process = explode(name, cage, work)
        assert process.end in BOMBS[name], (cage.level, process)
        assert process.returncode != 0
        assert len(process.stdout) < 70000
        assert process.stdout != "made\n"
        assert processes_in(work) == []


def test_what_a_bomb_writes_stays_below_half_a_gigabyte(tmp_path: Path) -> None:
    """Folders are looked at 20 times a second: an asker that did not get to run meanwhile has another try."""
    for cage in strict():
        left = []
        for number in range(3):
            work = tmp_path / f"{cage.level}{number}"
            work.mkdir()
            assert explode("disk", cage, work).end == "folder"
            left.append(sum(path.stat().st_size for path in work.rglob("*") if path.is_file()))
            shutil.rmtree(work)
            if left[-1] < 512 << 20:
                break
        assert min(left) < 512 << 20


def test_a_recursion_without_end_is_a_signal(tmp_path: Path) -> None:
    for cage in strict():
        assert explode("stack", cage, tmp_path).returncode == -signal.SIGSEGV


@pytest.mark.parametrize("name", ["sleep", "orphan"])
def test_nobody_is_left_when_the_asker_is_killed(name: str, tmp_path: Path) -> None:
    """The launcher dies with whoever has started it, and with it all that is inside; no program can decline that."""
    for cage in strict():
        asker = os.fork()
        if asker == 0:
            patient = ProcessLimits(cpu_s=60, idle_s=60.0)
            with contextlib.suppress(BaseException):
                explode(name, cage, tmp_path, patient)
            os._exit(0)
        wait_for(lambda: bool(processes_in(tmp_path)))
        os.kill(asker, signal.SIGKILL)
        os.waitpid(asker, 0)
        wait_for(lambda: not processes_in(tmp_path))


def wait_for(holds) -> None:  # type: ignore[no-untyped-def]
    import time

    for _ in range(2000):
        if holds():
            return
        time.sleep(0.01)
    raise AssertionError("it did not happen")
