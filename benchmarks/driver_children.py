"""The processes below a driver that judges in the lab, by what they do: victims of kills that must not outlive it."""

from __future__ import annotations

import random
import subprocess
import time
from pathlib import Path

from benchmarks.processes import descendants, kill

KINDS = {"executor": 4, "compiler": 4, "cage": 2, "reader": 1}  # each with its share of the kills
FOUND_S = 20.0  # for a process of a kind to be there; else the driver is struck
GONE_S = 10.0  # for the children of a killed driver to end
LOOK_S = 0.004  # between two looks: a compilation that the cache answers is short


def kind_of(pid: int) -> str:
    """Say what a process does by its command line; empty for one that has gone or is of no kind."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return ""
    program = words[0]
    if "/launcher/" in program:
        return "cage"
    if program.endswith("/executor"):
        return "executor"
    if program.rpartition("/")[2].startswith(("clang", "zig", "lld", "ld.lld")):
        return "compiler"
    return "reader" if any(word.endswith("_child.py") for word in words[:6]) else ""


def drawn(draw: random.Random) -> str:
    """Draw the kind of the next victim."""
    return draw.choices(list(KINDS), list(KINDS.values()))[0]


def struck(driver: subprocess.Popen[bytes], kind: str, draw: random.Random) -> bool:
    """Kill a child of this kind as soon as there is one; False where none came or the driver has ended."""
    until = time.monotonic() + FOUND_S
    while time.monotonic() < until and driver.poll() is None:
        if below := [pid for pid in descendants(driver.pid) if kind_of(pid) == kind]:
            kill(draw.choice(below))
            return True
        time.sleep(LOOK_S)
    return False


def outliving(pids: list[int]) -> list[int]:
    """List the children of a killed driver that do not end by themselves; each is ended then."""
    until = time.monotonic() + GONE_S
    while (left := [pid for pid in pids if kind_of(pid)]) and time.monotonic() < until:
        time.sleep(0.05)
    for pid in left:
        kill(pid)
    return left
