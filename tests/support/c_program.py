"""Static programs in C for the tests, each built once for each version of its source."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

from sandbox.amdgcn.toolchain import STATIC
from tests.support.compiler_cache import FOLDER, toolchain

SUPPORT = Path(__file__).parent


def static_program(name: str) -> Path:
    """The program that is made from the file of this name in tests/support."""
    tools, source = toolchain(), (SUPPORT / name).read_text(encoding="utf-8")
    digest = hashlib.sha256(repr((source, tools.version)).encode()).hexdigest()
    program = FOLDER / "programs" / digest
    if not program.is_file():
        program.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=program.parent) as folder:
            Path(folder, name).write_text(source, encoding="utf-8")
            argv = tools.command("cc", "-target", "x86_64-linux-musl", *STATIC, name, "-o", "program")
            tools.build(argv, Path(folder), tools.environment(), f"build {name}")
            Path(folder, "program").replace(program)
    return program
