"""Builds memory_script.cpp with the memory model, and plays sequences of memory operations to it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from sandbox.process import ProcessLimits, run
from tests.support.compiler_cache import COMPILED
from tests.support.interpreter_program import interpreter_program

DRIVER = Path(__file__).with_name("memory_script.cpp")
UNITS = ("conflicts", "memory_model", "memory_orders", "pending", "releases", "shadow", "shadow_runs", "touches")
_LIMITS = ProcessLimits(cpu_s=120, file_bytes=1 << 30)


@cache
def program() -> Path:
    """The driver with the memory model."""
    return interpreter_program(DRIVER, UNITS, "-O1")


def play(script: str) -> str:
    """What the model says of a script: the finding's line, or nothing."""
    completed = run([str(program())], cwd=COMPILED, env={}, timeout_s=60.0, stdin=script.encode(), limits=_LIMITS)
    assert completed.returncode == 0, completed.stderr
    return completed.stdout.strip()
