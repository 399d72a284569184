"""The command line from outside: one sentence and the right exit code for whatever is wrong, and an instant start."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from app.cli import app, run_command
from records.program_version import program_version
from tests.support.compiler_cache import share_toolchain

ROOT = Path(__file__).resolve().parents[2]


SEED = ROOT / "tasks" / "row_softmax" / "seed.hip"


HEAVY = (
    "langgraph",
    "langchain_core",
    "langchain_openai",
    "langsmith",
    "openai",
    "chromadb",
    "numpy",
    "pydantic",
    "jinja2",
    "graph",
    "agents",
    "knowledge",
    "sandbox",
    "tasks",
)


COMMANDS = ("demo", "run", "resume", "check", "runs", "report", "tasks", "knowledge", "memory", "doctor", "test")


@pytest.fixture(autouse=True)
def workdir(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    share_toolchain(tmp_path / "cache" / "kernel-scientist")
    (tmp_path / "file").write_text("not a folder")
    return tmp_path


def refused(capsys: pytest.CaptureFixture[str], arguments: Sequence[str], code: int) -> str:
    """Run a command that must fail with one sentence on standard error and nothing on standard output."""
    assert run_command(arguments) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("kernel-scientist: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    return err


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["run", "nosuch"], 2, "no task 'nosuch'"),
        (["run", "folder/nosuch"], 2, "no task folder"),
        (["run", "row_softmax", "--author", "llm"], 2, "OPENAI_API_KEY"),
        (["run", "row_softmax", "--author", "me"], 2, "--author is llm, playbook or command"),
        (
            ["run", "row_softmax", "--target", "h200", "--on", "lab"],
            3,
            "the lab does not know the target h200; use --on",
        ),
        (["run", "row_softmax", "--target", "nosuch"], 2, "there is no target 'nosuch'; known are"),
        (
            ["check", str(SEED), "--task", "row_softmax", "--target", "nosuch"],
            2,
            "there is no target 'nosuch'; known are",
        ),
        (["run", "row_softmax", "--on", "spool:file"], 3, "the spool folder"),
        (["run", "row_softmax", "--on", "spool:"], 2, "spool:DIR or worker:HOST:PORT, not 'spool:'"),
        (["run", "row_softmax", "--on", "worker:nowhere"], 2, "HOST:PORT"),
        (["run", "row_softmax", "--on", "worker:127.0.0.1:1"], 2, "set KERNEL_SCIENTIST_WORKER_TOKEN"),
        (["run", "row_softmax", "--on", "moon"], 2, "auto, lab, device, ray, ray:local, spool:DIR or worker:HOST:PORT"),
        (["run", "row_softmax", "--generations", "0"], 2, "--generations"),
        (["run", "row_softmax", "--budget-usd", "much"], 2, "--budget-usd"),
        (["run"], 2, "TASK"),
        (["nosuch"], 2, "No such command"),
        (["run", "row_softmax", "--nosuch"], 2, "--nosuch"),
        (["check", "nosuch.hip", "--task", "row_softmax"], 2, "nosuch.hip cannot be read"),
        (["check", ".", "--task", "row_softmax"], 2, "cannot be read"),
        (["check", str(SEED), "--task", "nosuch"], 2, "no task 'nosuch'"),
        (
            ["check", str(SEED), "--task", "row_softmax", "--on", "lab", "--target", "h200"],
            3,
            "does not know the target",
        ),
        (["check", str(SEED), "--task", "row_softmax", "--on", "spool:x", "--exact"], 2, "leave it out"),
        (["check", str(SEED), "--task", "row_softmax", "--on", "spool:x", "--whole-seconds", "9"], 2, "leave it out"),
        (["check", str(SEED), "--task", "row_softmax", "--on", "spool:x"], 1, "waiting for 1 result in"),
        (["check", str(SEED), "--task", "row_softmax", "--set", "ROWS"], 2, "NAME=VALUE"),
        (["resume", "nosuch"], 2, "there are no runs"),
        (["report", "nosuch"], 2, "there are no runs"),
        (["tasks", "nosuch"], 2, "no task 'nosuch'"),
        (["tasks", "--target", "nosuch"], 2, "there is no target 'nosuch'; known are h200, mi300x"),
        (["knowledge", "add", "nosuch.md"], 2, "nosuch.md"),
        (["knowledge", "remove", "nosuch"], 2, "nosuch"),
        (["knowledge", "search", " "], 2, "query"),
    ],
)
def test_what_cannot_be_is_one_sentence(
    capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, words: str
) -> None:
    assert words in refused(capsys, arguments, code)


def test_a_kernel_file_that_is_no_text(capsys: pytest.CaptureFixture[str], workdir: Path) -> None:
    (workdir / "k.hip").write_bytes(b"\xff\xfe\x00")
    assert "not UTF-8 text" in refused(capsys, ["check", "k.hip", "--task", "row_softmax"], 2)


def test_a_document_that_is_no_text(capsys: pytest.CaptureFixture[str], workdir: Path) -> None:
    (workdir / "d.md").write_bytes(b"\x7fELF\x00\x01\xff\xfe")
    assert "d.md" in refused(capsys, ["knowledge", "add", "d.md"], 2)


@pytest.mark.parametrize("arguments", [["runs"], ["report", "x"], ["resume", "x"], ["run", "row_softmax"]])
def test_a_damaged_ledger(capsys: pytest.CaptureFixture[str], workdir: Path, arguments: list[str]) -> None:
    (workdir / "runs").mkdir()
    (workdir / "runs" / "ledger.db").write_bytes(b"this is no database at all" * 100)
    assert "is damaged" in refused(capsys, arguments, 3)


def test_a_runs_folder_that_cannot_be_written(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, workdir: Path
) -> None:
    monkeypatch.setenv("KERNEL_SCIENTIST_RUNS_FOLDER", str(workdir / "file" / "runs"))
    assert "cannot be written to" in refused(capsys, ["run", "row_softmax", "--author", "playbook"], 3)


def test_a_setting_that_is_not_usable(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNEL_SCIENTIST_CORES", "-4")
    assert "KERNEL_SCIENTIST_CORES" in refused(capsys, ["runs"], 2)


def test_a_run_that_is_not_in_the_ledger(capsys: pytest.CaptureFixture[str], workdir: Path) -> None:
    from records.ledger import Ledger

    Ledger(workdir / "runs" / "ledger.db").close()
    for command in ("report", "resume"):
        assert "there is no run 'x'" in refused(capsys, [command, "x"], 2)
        assert "there is no run yet" in refused(capsys, [command, "last"], 2)


def test_a_fault_of_ours_is_a_short_message_and_a_saved_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    @app.command("burst")
    def burst() -> None:
        raise ZeroDivisionError("a fault of ours")

    try:
        err = refused(capsys, ["burst"], 3)
    finally:
        app.registered_commands.pop()
    log = Path(err.rsplit(" ", 1)[1].strip())
    assert "ZeroDivisionError: a fault of ours" in log.read_text()
    log.unlink()


def test_help_starts_without_anything_heavy() -> None:
    program = (
        "import sys; from app.cli import run_command; code = run_command(['--help']);"
        f"print('LOADED', code, sorted(set({HEAVY!r}) & set(sys.modules)))"
    )
    process = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert process.stdout.splitlines()[-1] == "LOADED 0 []"
    for command in COMMANDS:
        assert re.search(rf"^  {command} +\S", process.stdout, re.MULTILINE)


@pytest.mark.parametrize(
    "command",
    [[c] for c in COMMANDS if c not in ("knowledge", "memory")]
    + [["knowledge", c] for c in ("add", "list", "remove", "search")]
    + [["memory", c] for c in ("list", "show", "withdraw", "restore")],
)
def test_every_command_has_help_and_json(capsys: pytest.CaptureFixture[str], command: list[str]) -> None:
    assert run_command([*command, "--help"]) == 0
    assert "--json" in capsys.readouterr().out


def test_the_module_and_the_console_script_are_the_same_program() -> None:
    command = [sys.executable, "-m", "app", "--version"]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert process.stdout == f"kernel-scientist {program_version()}\n"
