"""What a machine lacks is said before anything is fetched, and nothing is left there."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STUBS = {
    "uname": 'case "$1" in -s) echo "${SYSTEM:-Linux}" ;; *) echo "${MACHINE:-x86_64}" ;; esac',
    "getconf": 'echo "${LIBC:-glibc 2.36}"',
    "df": 'echo "Filesystem 1024-blocks Used Available Capacity Mounted on"; echo "/dev/a 9 9 ${FREE:-9999999} 9% /x"',
    "uv": 'echo "fetched" >>"$FETCHED"; exit 1',  # what comes next, which is not to be reached
}


def set_up(folder: Path, **machine: str) -> tuple[subprocess.CompletedProcess[str], bool]:
    """Run the set-up of a fresh copy on a machine like that; whether it went on to fetch something."""
    copy, stubs, fetched = folder / "copy", folder / "stubs", folder / "fetched"
    copy.mkdir()
    stubs.mkdir()
    for name in ("kernel-scientist", "pyproject.toml", "constraints.txt", "constraints-dev.txt"):
        shutil.copy(ROOT / name, copy / name)
    for name, text in STUBS.items():
        (stubs / name).write_text(f"#!/bin/sh\n{text}\n")
        (stubs / name).chmod(0o755)
    env = {"PATH": f"{stubs}:{os.environ['PATH']}", "HOME": str(folder), "FETCHED": str(fetched), **machine}
    completed = subprocess.run(
        ["sh", str(copy / "kernel-scientist"), "doctor"], env=env, capture_output=True, text=True, check=False
    )
    return completed, fetched.exists()


@pytest.mark.parametrize(
    ("machine", "word"),
    [
        ({"SYSTEM": "Darwin", "MACHINE": "arm64"}, "Linux on x86-64"),
        ({"MACHINE": "aarch64"}, "aarch64"),
        ({"LIBC": "musl libc (x86_64)"}, "musl"),
        ({"LIBC": "glibc 2.17"}, "2.28"),
        ({"FREE": "900000"}, "878 MB free"),
    ],
)
def test_what_a_machine_lacks_is_said_before_anything_is_fetched(
    tmp_path: Path, machine: dict[str, str], word: str
) -> None:
    completed, is_fetched = set_up(tmp_path, **machine)
    assert (completed.returncode, is_fetched) == (3, False)
    assert word in completed.stderr and completed.stderr.count("\n") == 1
    assert not (tmp_path / "copy" / ".venv").exists()


@pytest.mark.parametrize("libc", ["glibc 2.28", "glibc 2.41", "glibc 2.35-0ubuntu3", "something else"])
def test_a_machine_that_has_all_goes_on(tmp_path: Path, libc: str) -> None:
    assert set_up(tmp_path, LIBC=libc)[1]
