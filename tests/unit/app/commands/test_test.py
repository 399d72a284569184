"""The checks beside pytest: a failed one is shown whole, the closing line comes last, paths run with pytest alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from app.cli import run_command
from app.commands.test import checks, run_beside

ROOT = Path(__file__).resolve().parents[4]
TESTS = (sys.executable, "-c", "print('....', flush=True); import time; time.sleep(0.3); print('=== 4 passed ===')")
LATE = "import sys, time; time.sleep(3); print('line\\n' * 9000 + 'and the end'); sys.exit(3)"


@pytest.mark.slow
def test_a_failed_check_is_shown_whole_before_the_closing_line(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    steps = {"good": (sys.executable, "-c", "print('unsaid')"), "bad": (sys.executable, "-c", LATE)}
    assert run_beside(steps, TESTS, json=False) == {"good": 0, "bad": 3, "pytest": 0}
    out, err = capfdbinary.readouterr()
    assert out == b"....\n=== 4 passed ===\n=== 4 passed ===\n"  # again, as the check ended later
    output = err.decode()
    assert "== good: ok" in output and "unsaid" not in output
    assert "== bad: failed (exit code 3)" in output and output.count("line\n") == 9000 and "and the end" in output


def test_with_json_the_tests_leave_standard_output_to_the_answer(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run_beside({}, (*TESTS[:2], "print('== 1 failed =='); raise SystemExit(1)"), json=True) == {"pytest": 1}
    out, err = capfdbinary.readouterr()
    assert (out, err) == (b"", b"== 1 failed ==\n")


@pytest.mark.slow
def test_paths_are_the_callers_and_options_stand_behind_two_dashes(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text("def test_a(): pass\ndef test_b(): assert False\n", encoding="utf-8")
    command = [sys.executable, "-m", "app", "test", "test_mine.py", "--", "-k", "test_a", "-c", "/dev/null"]
    environment = {"PYTHONPATH": str(ROOT), "PATH": ""}
    completed = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stdout + completed.stderr
    assert "1 passed, 1 deselected" in completed.stdout.splitlines()[-1]
    assert "== ruff" not in completed.stderr


@pytest.mark.parametrize("option", ["--fast", "--all"])
def test_a_choice_of_tests_takes_no_paths(capsys: pytest.CaptureFixture[str], option: str) -> None:
    assert run_command(["test", option, "tests/unit"]) == 2
    assert "choose the tests themselves" in capsys.readouterr().err


def test_every_check_is_named_once_and_the_headers_are_all_formatted() -> None:
    assert list(checks()) == ["ruff check", "ruff format", "clang-format", "lint-imports", "mypy"]
    headers = [Path(argument).name for argument in checks()["clang-format"]]
    assert {"hip_runtime.h", "workgroup.cpp", "request.h", "launcher.c"} <= set(headers)
