from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from records.errors import HostStarved
from sandbox.cage.meter import Meter, ProcessLimits

WIDE = ProcessLimits(cpu_s=1000, idle_s=1000.0)


@contextmanager
def child(program: str) -> Iterator[int]:
    process = subprocess.Popen([sys.executable, "-c", program])
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


def watched(program: str, limits: ProcessLimits, folders: tuple[Path, ...] = (), looks: int = 400) -> str | None:
    """The limit that is met within so many looks."""
    with child(program) as pid:
        meter = Meter(pid, limits, folders)
        for _ in range(looks):
            if met := meter.look():
                return met
            time.sleep(0.02)
    return None


@pytest.mark.slow
def test_a_sleeper_is_stalled_and_a_worker_is_not() -> None:
    limits = replace(WIDE, idle_s=0.4)
    assert watched("import time; time.sleep(300)", limits) == "stalled"
    assert watched("while True: pass", limits, looks=80) is None


def test_who_does_not_get_to_run_has_starved() -> None:
    """A program that could run stays the machine's matter, however long it takes."""
    with pytest.raises(HostStarved, match="too busy"):
        watched("while True: pass", replace(WIDE, idle_s=0.4, patience_s=0.6))


@pytest.mark.slow
def test_a_pause_of_the_watcher_is_no_idleness_of_the_watched() -> None:
    with child("import time; time.sleep(300)") as pid:
        meter = Meter(pid, replace(WIDE, idle_s=1.0), ())
        time.sleep(2.5)  # as a judge that gets no processor
        assert meter.look() is None


def test_cpu_time_and_memory_are_limits() -> None:
    assert watched("while True: pass", replace(WIDE, cpu_s=-1)) == "cpu"
    assert watched("x = bytearray(64 << 20)\nwhile True: pass", replace(WIDE, resident_bytes=32 << 20)) == "memory"


def test_a_folder_is_full_by_size_or_by_number(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / str(number)).write_bytes(os.urandom(8192))
    busy = "while True: pass"
    assert watched(busy, replace(WIDE, folder_files=2), (tmp_path,)) == "folder"
    assert watched(busy, replace(WIDE, folder_bytes=8192), (tmp_path,)) == "folder"
    assert watched(busy, replace(WIDE, folder_files=3, folder_bytes=1 << 20), (tmp_path,), looks=25) is None


def test_threads_are_counted_from_the_first_look_on() -> None:
    begin = "for _ in range(9): threading.Thread(target=time.sleep, args=(300,)).start()"
    program = f"import threading, time\n{begin}\nprint(flush=True)"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert Meter(process.pid, replace(WIDE, threads=8), ()).look() == "threads"
        assert Meter(process.pid, replace(WIDE, threads=10), ()).look() is None
        process.kill()


def test_a_program_that_has_ended_meets_no_limit() -> None:
    with child("") as pid:
        time.sleep(0.3)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        assert Meter(pid, replace(WIDE, idle_s=0.0), ()).look() is None


def test_folders_are_looked_at_from_the_first_moment(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"x" * 8192)
    with child("import time; time.sleep(300)") as pid:
        assert Meter(pid, replace(WIDE, folder_bytes=4096), (tmp_path,)).look() == "folder"
        assert Meter(pid, replace(WIDE, folder_files=0), (tmp_path,)).look() == "folder"
        assert Meter(pid, WIDE, (tmp_path,)).look() is None
