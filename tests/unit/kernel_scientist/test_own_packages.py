"""Imports beside packages that are named like ours, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
NAMES = ("app", "cluster", "graph", "agents", "documents", "knowledge", "sandbox", "tasks", "records")


def python(program: str, *path: Path, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run a program whose path has other folders before ours."""
    places = os.pathsep.join(map(str, (*path, ROOT)))
    return subprocess.run(
        [sys.executable, *options, "-c", program],
        env={**os.environ, "PYTHONPATH": places},
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )


def others(folder: Path, *names: str) -> Path:
    """Packages and modules of strangers."""
    for i, name in enumerate(names):
        if i % 2:
            (folder / f"{name}.py").write_text("MINE = True\n")
        else:
            (folder / name).mkdir()
            (folder / name / "__init__.py").write_text("MINE = True\n")
    return folder


def test_our_packages_are_found_behind_others_of_their_names_and_each_is_told(tmp_path: Path) -> None:
    program = "import kernel_scientist, records.errors, sandbox.walk, agents; print(agents.__file__)"
    done = python(program, others(tmp_path, *NAMES))
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(ROOT / "agents" / "__init__.py")
    for name in NAMES:
        told = [line for line in done.stderr.splitlines() if f"'{name}' is kernel_scientist's own package" in line]
        assert len(told) == 1 and str(tmp_path) in told[0]
    assert "OpenAI's Agents SDK" in done.stderr


def test_one_that_is_imported_already_is_refused_in_a_sentence(tmp_path: Path) -> None:
    done = python("import agents; import kernel_scientist", others(tmp_path, "agents"))
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ImportError: kernel_scientist has a package 'agents' of its own")
    assert str(tmp_path) in last and "OpenAI's Agents SDK" in last


def test_alone_it_imports_in_silence_and_loads_nothing_heavy() -> None:
    heavy = "{'langgraph', 'langchain_core', 'chromadb', 'numpy', 'pydantic'}"
    program = f"import sys, kernel_scientist; print(sorted({heavy} & set(sys.modules)))"
    done = python(program, options=("-W", "error"))
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "[]", "")


def test_importing_it_twice_adds_one_finder(tmp_path: Path) -> None:
    program = (
        "import sys, importlib, kernel_scientist; importlib.reload(kernel_scientist); "
        "print(sum(type(f).__name__ == 'OwnPackages' for f in sys.meta_path))"
    )
    assert python(program, others(tmp_path, "graph")).stdout.strip() == "1"
