"""Shell completion: the script of bash in a real one, those of zsh and fish by what they ask."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli import run_command
from app.commands.completion import VARIABLE

ROOT = Path(__file__).resolve().parents[4]
PROGRAM = "import sys; sys.path.insert(0, sys.argv.pop(1)); from app.cli import main; main()"


def asked(folder: Path, **variables: str) -> str:
    """The words that the command line gives a shell."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), **variables}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(ROOT)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout


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
    done = subprocess.run(["bash"], input=script, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["status", "transpose", "--generations", "remove"], done.stderr


def test_runs_are_completed_from_the_folder(tmp_path: Path) -> None:
    (tmp_path / "runs" / "20261122-a").mkdir(parents=True)
    (tmp_path / "runs" / "20261122-a" / "events.jsonl").touch()
    words = {VARIABLE: "complete_bash", "COMP_WORDS": "kernel-scientist status 2026", "COMP_CWORD": "2"}
    assert asked(tmp_path, **words).split() == ["20261122-a"]


@pytest.mark.parametrize(("shell", "more"), [("zsh", {}), ("fish", {"_TYPER_COMPLETE_FISH_ACTION": "get-args"})])
def test_what_zsh_and_fish_ask_is_answered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], shell: str, more: dict[str, str]
) -> None:
    assert run_command(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert f"{VARIABLE}=complete_{shell}" in script and "_TYPER_COMPLETE_ARGS" in script
    given = {VARIABLE: f"complete_{shell}", "_TYPER_COMPLETE_ARGS": "kernel-scientist sto", **more}
    assert "stop" in asked(tmp_path, **given)


def test_another_shell_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["completion", "tcsh"]) == 2
    assert "bash, zsh, fish" in capsys.readouterr().err
