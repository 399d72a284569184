"""A closed pipe ends every command without a word, and with no exit code that means anything else."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.compiler_cache import FOLDER, toolchain

ROOT = Path(__file__).resolve().parents[2]
SEED = str(ROOT / "tasks" / "row_softmax" / "seed.hip")
UNREAD = 141  # 128 + SIGPIPE


@pytest.fixture(autouse=True, scope="module")
def warmed() -> None:
    toolchain()


def environment(folder: Path) -> dict[str, str]:
    """Without PYTHONUNBUFFERED, with which Python itself swallows the end of a write that the pipe took in part."""
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYTHONUNBUFFERED": "",
        "KERNEL_SCIENTIST_KNOWLEDGE_FOLDER": str(folder / "knowledge"),
        "KERNEL_SCIENTIST_CACHE_FOLDER": str(FOLDER),
    }


def unread(folder: Path, arguments: Sequence[str], is_stderr_too: bool = False) -> tuple[int, str]:
    """Exit code and standard error of a command whose standard output nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        process = subprocess.run(
            [sys.executable, "-m", "app", *arguments],
            cwd=folder,
            stdout=writer,
            text=True,
            check=False,
            stderr=subprocess.STDOUT if is_stderr_too else subprocess.PIPE,
            env=environment(folder),
        )
    finally:
        os.close(writer)
    return process.returncode, process.stderr or ""


SHORT = [["--version"], ["check", "--help"], ["tasks", "--json"], ["runs"], ["isa", SEED], ["demo"]]
LONG = [
    ["--help"],
    [],
    ["tasks"],
    ["runs", "--json"],
    ["doctor"],
    ["knowledge", "list"],
    ["knowledge", "search", "LDS", "--json"],
    ["check", SEED, "--task", "row_softmax"],
    ["check", SEED, "--task", "row_softmax", "--json"],
    ["run", "row_softmax", "--author", "playbook"],
]


@pytest.mark.parametrize(
    "arguments", [*SHORT, *(pytest.param(words, marks=pytest.mark.long) for words in LONG)], ids=" ".join
)
def test_a_closed_pipe_is_no_fault_and_no_verdict(tmp_path: Path, arguments: list[str]) -> None:
    assert unread(tmp_path, arguments) == (UNREAD, "")


def test_the_steps_of_test_end_with_the_pipe(tmp_path: Path) -> None:
    code, stderr = unread(tmp_path, ["test"])
    assert code == UNREAD
    assert "pytest" not in stderr
    assert "Traceback" not in stderr


@pytest.mark.parametrize("arguments", [["tasks"], ["tasks", "nosuch"], ["nosuch"]], ids=" ".join)
def test_nobody_hears_the_faults_either(tmp_path: Path, arguments: list[str]) -> None:
    assert unread(tmp_path, arguments, is_stderr_too=True)[0] == UNREAD


def test_a_pipe_that_is_read_for_its_first_byte_only(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "app", "tasks", "--json"]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        pipesize=4096,
        env=environment(tmp_path),
    ) as child:
        assert child.stdout is not None and child.stderr is not None
        assert child.stdout.read(1) == b"["  # the rest does not fit into the pipe
        child.stdout.close()
        assert child.stderr.read() == b""
    assert child.returncode == UNREAD


def test_another_pipe_that_breaks_is_a_fault_and_told(capsys: pytest.CaptureFixture[str]) -> None:
    from app.cli import app, run_command

    @app.command("burst")
    def burst() -> None:
        raise BrokenPipeError("of a child")

    try:
        assert run_command(["burst"]) == 3
    finally:
        app.registered_commands.pop()
    stderr = capsys.readouterr().err
    assert "an unexpected BrokenPipeError" in stderr
    Path(stderr.rsplit(" ", 1)[1].strip()).unlink()
