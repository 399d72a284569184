"""Builds memory_script.cpp with the memory model, and plays sequences of memory operations to it."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from sandbox.amdgcn.toolchain import STATIC
from sandbox.machine.executor import FLAGS
from sandbox.process import ProcessLimits, run
from tests.support.compiler_cache import COMPILED, taking_turns, toolchain

FOLDER = Path(__file__).parents[4] / "sandbox" / "machine" / "interpreter"
DRIVER = Path(__file__).with_name("memory_script.cpp")
UNITS = ("conflicts", "memory_model", "memory_orders", "pending", "releases", "shadow", "shadow_runs", "touches")
_LIMITS = ProcessLimits(cpu_s=120, file_bytes=1 << 30)


@cache
def program() -> Path:
    """The driver, compiled once for its sources."""
    digest = hashlib.sha256(repr((FLAGS, toolchain().version)).encode())
    for path in (*sorted(FOLDER.glob("*.h")), *(FOLDER / f"{unit}.cpp" for unit in UNITS), DRIVER):
        digest.update(path.read_bytes())
    built = COMPILED / f"memory-script-{digest.hexdigest()[:24]}"
    with taking_turns(digest.hexdigest()):
        if not built.exists():
            sources = [str(FOLDER / f"{unit}.cpp") for unit in UNITS]
            argv = toolchain().command(
                "c++", *FLAGS, "-O1", *STATIC, "-I", str(FOLDER), str(DRIVER), *sources, "-o", str(built)
            )
            env = toolchain().environment()
            done = run(argv, cwd=COMPILED, env=env, timeout_s=300.0, limits=_LIMITS)
            assert done.returncode == 0, done.stderr
    return built


def play(script: str) -> str:
    """What the model says of a script: the finding's line, or nothing."""
    done = run([str(program())], cwd=COMPILED, env={}, timeout_s=60.0, stdin=script.encode(), limits=_LIMITS)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
