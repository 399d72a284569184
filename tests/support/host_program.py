"""C++ on this machine's CPU, built by the lab's own compiler with the C library that it has built already."""

from __future__ import annotations

import subprocess
from pathlib import Path

from sandbox.amdgcn.toolchain import STATIC
from tests.support.compiler_cache import toolchain

FAKE_HIP = Path(__file__).parent / "fake_hip"


def host_program(source: Path) -> Path:
    """The program that a C++ file becomes, beside it; there is no C++ library, only the language and C's headers."""
    program, tools = source.with_suffix(""), toolchain()
    words = [
        "-x",
        "c++",
        "-std=c++20",
        "-O0",
        "-fno-sanitize=all",
        "-nostdinc++",
        "-Wall",
        "-Wno-unused-function",
        f"-I{FAKE_HIP}",
    ]
    process = subprocess.run(
        tools.command("cc", "-target", "x86_64-linux-musl", *STATIC, *words, str(source), "-o", str(program)),
        cwd=source.parent,  # in a folder around its own installation the compiler builds its libraries again
        env=tools.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    return program


def printed(program: Path, *words: str) -> list[str]:
    """Its lines."""
    return subprocess.run([str(program), *words], capture_output=True, text=True, check=True).stdout.splitlines()
