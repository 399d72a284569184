"""Programs of a driver and some of the interpreter's units, each built once for its sources.

Compiled and linked apart: other options at the link would build another C library, which takes half a minute.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sandbox.amdgcn.toolchain import STATIC
from sandbox.machine import executor
from tests.support.compiler_cache import FOLDER, taking_turns, toolchain

TARGET = ("-target", "x86_64-linux-musl")


def interpreter_program(driver: Path, units: Sequence[str], *options: str) -> Path:
    """The program of this driver in C++ with these units, compiled as the interpreter is but for the options."""
    tools, files = toolchain(), [driver, *(executor.FOLDER / f"{unit}.cpp" for unit in units)]
    texts = [path.read_bytes() for path in (*files, *sorted(executor.FOLDER.glob("*.h")))]
    digest = hashlib.sha256(repr((texts, executor.FLAGS, options, tools.version)).encode()).hexdigest()
    built = FOLDER / "programs" / digest
    with taking_turns(digest):
        if built.is_file():
            return built
        built.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=built.parent) as name:
            folder, words = Path(name), (*TARGET, *executor.FLAGS, *options, f"-I{executor.FOLDER}")

            def compile_unit(path: Path) -> str:
                argv = tools.command("c++", *words, "-c", str(path), "-o", f"{path.stem}.o")
                tools.build(argv, folder, tools.environment(), f"build {path.name}")
                return f"{path.stem}.o"

            with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
                objects = list(pool.map(compile_unit, files))
            argv = tools.command("cc", *TARGET, *STATIC, *objects, "-o", "program")
            tools.build(argv, folder, tools.environment(), f"link {driver.name}")
            (folder / "program").replace(built)
    return built
