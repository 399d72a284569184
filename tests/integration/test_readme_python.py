"""The README's Python example is short, imports one module, and runs beside other packages named like ours."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kernel_scientist.own_packages import NAMES

ROOT = Path(__file__).resolve().parents[2]


def example() -> str:
    [program] = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    return str(program)


def ran(program: list[str], folder: Path, cache: Path) -> subprocess.CompletedProcess[str]:
    strange = folder / "strange"
    for name in NAMES:
        (strange / name).mkdir(parents=True)
        (strange / name / "__init__.py").write_text("raise RuntimeError('a stranger was imported')\n")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONPATH": f"{strange}{os.pathsep}{ROOT}",
        "KERNEL_SCIENTIST_CACHE_FOLDER": str(cache),
    }
    return subprocess.run(
        [sys.executable, *program], env=environment, cwd=folder, capture_output=True, text=True, check=False
    )


def test_the_example_is_short_and_imports_one_module() -> None:
    lines = [line for line in example().splitlines() if line.strip()]
    assert len(lines) <= 12
    assert [line for line in lines if "import" in line] == ["from kernel_scientist import run"]


def test_its_import_and_a_check_work_beside_strangers(tmp_path: Path, compiler_cache: Path) -> None:
    program = "from kernel_scientist import check; print(check('no kernel', 'transpose').verdict.code)"
    process = ran(["-c", program], tmp_path, compiler_cache)
    assert (process.returncode, process.stdout.strip()) == (0, "A.2"), process.stderr


@pytest.mark.slow
def test_the_example_runs_beside_strangers_and_gains(tmp_path: Path, compiler_cache: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    process = ran(["-c", example()], tmp_path, compiler_cache)
    assert process.returncode == 0, process.stderr
    assert "best.hip" in process.stdout and "extern" in process.stdout
    gain = re.match(r"([\d.]+)x your kernel \(", process.stdout)
    assert gain is not None and float(gain[1]) > 1.1, process.stdout[:200]


@pytest.mark.long
def test_the_file_of_the_example_runs_too(tmp_path: Path, compiler_cache: Path) -> None:
    process = ran([str(ROOT / "examples" / "optimise.py")], tmp_path, compiler_cache)
    assert process.returncode == 0, process.stderr
    assert "x your kernel" in process.stdout and "NewBest" in process.stdout
