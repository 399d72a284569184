"""Shared libraries in C that stand in for a vendor's, each built once for each version of its source."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

from sandbox.process import ProcessLimits, run
from tests.support.compiler_cache import FOLDER, toolchain

# One set of flags for all: another set would need the compiler's own libraries to be built for it first.
FLAGS = ("-shared", "-s", "-fPIC", "-O1", "-fno-sanitize=all", "-target", "x86_64-linux-gnu.2.28", "-lpthread", "-ldl")


def shared_library(source: str) -> Path:
    """The library made from this text."""
    tools = toolchain()
    digest = hashlib.sha256(repr((source, FLAGS, tools.version)).encode()).hexdigest()
    library = FOLDER / "libraries" / f"{digest}.so"
    if not library.is_file():
        library.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=library.parent) as folder:
            Path(folder, "source.c").write_text(source, encoding="utf-8")
            process = run(
                tools.command("cc", *FLAGS, "source.c", "-o", "library.so"),
                cwd=Path(folder),
                env=tools.environment(),
                timeout_s=300,
                limits=ProcessLimits(cpu_s=300),
            )
            if process.returncode != 0:
                raise RuntimeError(process.stderr)
            Path(folder, "library.so").replace(library)
    return library
