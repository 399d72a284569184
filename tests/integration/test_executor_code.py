"""No foreign code in the executor: its own program is all that it can run, whatever a listing makes it do."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
from pathlib import Path

import pytest

from sandbox.amdgcn.toolchain import STATIC
from sandbox.machine.executor import FLAGS, FOLDER, executor
from tests.support.compiler_cache import COMPILED, toolchain

ATTEMPTS = r"""
#include "confine.h"
#include "loaded_program.h"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

namespace machine {
void die(const char* message) { _exit(71 + (message == nullptr)); }
}

int main(int, char** words) {
    const int file = open("/proc/self/exe", O_RDONLY);
    void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    machine::limit_resources(1ull << 32);
    machine::allow_only_listed_calls(1);
    void* got = page;
    switch (words[1][0]) {
        case 'd': got = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); break;
        case 'a': got = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); break;
        case 'f': got = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0); break;
        case 'r': got = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, file, 0); break;
        case 'p': got = (void*)(long)mprotect(page, 4096, PROT_READ | PROT_EXEC); break;
        case 'x': got = (void*)(long)execve("/proc/self/exe", words, nullptr); break;
    }
    return write(1, got == MAP_FAILED ? "refused" : "reached", 7) == 7 ? 0 : 1;
}
"""
EXECUTABLE, WRITABLE = 1, 2
LOADED, INTERPRETER, STACK = 1, 3, 0x6474E551  # types of program headers


@pytest.fixture(name="attempts", scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program with the executor's own filter."""
    work, tools = tmp_path_factory.mktemp("attempts"), toolchain()
    (work / "attempts.cpp").write_text(ATTEMPTS, encoding="utf-8")
    target = ("-target", f"{os.uname().machine}-linux-musl")
    for source in ("attempts.cpp", str(FOLDER / "confine.cpp")):
        argv = tools.command("c++", *target, *FLAGS, f"-I{FOLDER}", "-c", source, "-o", f"{Path(source).stem}.o")
        tools.build(argv, work, tools.environment(), f"build {source}")
    argv = tools.command("cc", *target, *STATIC, "attempts.o", "confine.o", "-o", "attempts")
    tools.build(argv, work, tools.environment(), "link the attempts")
    return work / "attempts"


def attempt(program: Path, word: str) -> tuple[int, str]:
    process = subprocess.run([str(program), word], capture_output=True, text=True, timeout=60)
    return process.returncode, process.stdout


def test_data_can_be_had_behind_the_filter(attempts: Path) -> None:
    assert attempt(attempts, "data") == (0, "reached")


@pytest.mark.parametrize("word", ["anonymous", "file", "read only file", "protection", "x other program"])
def test_code_can_not(attempts: Path, word: str) -> None:
    assert attempt(attempts, word) == (-signal.SIGSYS, "")


def test_the_executors_program_is_the_only_code_that_is_mapped() -> None:
    """Static, so that the kernel maps nothing else; no part of it is both written and executed."""
    image = executor(toolchain(), COMPILED).read_bytes()
    (start,), (size, count) = struct.unpack_from("<Q", image, 32), struct.unpack_from("<HH", image, 54)
    headers = [struct.unpack_from("<II", image, start + size * number) for number in range(count)]
    loaded = [flags for kind, flags in headers if kind == LOADED]
    assert [flags & EXECUTABLE for flags in loaded].count(EXECUTABLE) == 1
    assert not any(flags & EXECUTABLE and flags & WRITABLE for flags in loaded)
    assert INTERPRETER not in [kind for kind, _ in headers]
    assert all(not flags & EXECUTABLE for kind, flags in headers if kind == STACK)
