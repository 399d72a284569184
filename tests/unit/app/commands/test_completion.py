"""Shell completion: each script in a real shell (zsh and fish where they are installed), and the words it is given."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.cli import run_command
from app.commands.completion import VARIABLE

ROOT = Path(__file__).resolve().parents[4]
PATIENCE_S = 120
PROGRAM = "import sys; sys.path.insert(0, sys.argv.pop(1)); from app.cli import main; main()"


def complete(folder: Path, **variables: str) -> str:
    """The words that the command line gives a shell."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), **variables}
    completed = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(ROOT)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.stderr == ""
    return completed.stdout


@pytest.mark.slow
def test_a_real_bash_completes_commands_options_and_tasks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["completion", "bash"]) == 0
    script = capsys.readouterr().out
    program = tmp_path / "with a space" / "kernel-scientist"
    program.parent.mkdir()
    program.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(ROOT)!r})\nfrom app.cli import main\nmain()\n"
    )
    program.chmod(0o755)
    called = next(line for line in script.splitlines() if "complete_bash" in line)
    script = script.replace(called, f"{VARIABLE}=complete_bash '{program}' ) )")
    lines = [("sta", 1), ("run tran", 2), ("run transpose --genera", 3), ("runs rem", 2)]
    for words, _ in lines:
        script += f"\nCOMP_WORDS=(kernel-scientist {words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))"
        script += '\n_kernel_scientist_completion kernel-scientist; echo "${COMPREPLY[@]}"'
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    completed = subprocess.run(["bash"], input=script, env=environment, capture_output=True, text=True, check=False)
    assert completed.stdout.splitlines() == ["status", "transpose", "--generations", "remove"], completed.stderr


@pytest.mark.slow
def test_runs_are_completed_from_the_folder(tmp_path: Path) -> None:
    (tmp_path / "runs" / "20261122-a").mkdir(parents=True)
    (tmp_path / "runs" / "20261122-a" / "events.jsonl").touch()
    for words in ("status 2026", "export 2026", "runs remove 2026"):
        variables = {"COMP_WORDS": f"kernel-scientist {words}", "COMP_CWORD": str(len(words.split()))}
        assert complete(tmp_path, **{VARIABLE: "complete_bash", **variables}).split() == ["20261122-a"], words


@pytest.mark.slow
def test_tasks_are_completed_wherever_one_is_named(tmp_path: Path) -> None:
    for words in ("tasks trans", "check kernel.hip --task trans", "runs --task trans"):
        variables = {"COMP_WORDS": f"kernel-scientist {words}", "COMP_CWORD": str(len(words.split()))}
        assert complete(tmp_path, **{VARIABLE: "complete_bash", **variables}).split() == ["transpose"], words


@pytest.mark.slow
@pytest.mark.parametrize(("shell", "more"), [("zsh", {}), ("fish", {"_TYPER_COMPLETE_FISH_ACTION": "get-args"})])
def test_what_zsh_and_fish_ask_is_answered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], shell: str, more: dict[str, str]
) -> None:
    assert run_command(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert f"{VARIABLE}=complete_{shell}" in script and "_TYPER_COMPLETE_ARGS" in script
    variables = {VARIABLE: f"complete_{shell}", "_TYPER_COMPLETE_ARGS": "kernel-scientist sto", **more}
    assert "stop" in complete(tmp_path, **variables)


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_a_real_fish_completes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["completion", "fish"]) == 0
    asked_for = ["kernel-scientist sta", "kernel-scientist run tran", "kernel-scientist run transpose --genera"]
    script = capsys.readouterr().out + "".join(f"complete -C '{line}'\n" for line in asked_for)
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    completed = subprocess.run(["fish"], input=script, env=environment, capture_output=True, text=True, check=False)
    words = [line.split("\t")[0] for line in completed.stdout.splitlines()]
    assert words == ["status", "transpose", "--generations"], completed.stderr


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_a_real_zsh_completes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["completion", "zsh"]) == 0
    (tmp_path / "script").write_text("autoload -Uz compinit; compinit -u\n" + capsys.readouterr().out)
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TERM": "dumb", "PS1": ""}
    child, terminal = pty.fork()
    if child == 0:
        os.execvpe("zsh", ["zsh", "-f"], environment)
    screen, deadline = "", time.monotonic() + PATIENCE_S
    os.write(terminal, f"source '{tmp_path / 'script'}'; echo rea''dy\n".encode())
    for typed, completion in (
        ("", "ready"),
        ("kernel-scientist sta\t", "kernel-scientist status"),
        ("\x15kernel-scientist run tran\t", "transpose"),
    ):
        os.write(terminal, typed.encode())
        while completion not in screen and time.monotonic() < deadline:
            if select.select([terminal], [], [], 1.0)[0]:
                screen += os.read(terminal, 65536).decode(errors="replace")
        assert completion in screen, screen
    os.close(terminal)
    os.waitpid(child, 0)


def test_another_shell_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["completion", "tcsh"]) == 2
    assert "bash, zsh, fish" in capsys.readouterr().err
