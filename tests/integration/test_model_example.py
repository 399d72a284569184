"""examples/model: three commands from a module to a checked, faster module, on the processor with the lab."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from app.cli import run_command

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "model"
pytest.importorskip("torch")


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_the_example_goes_from_a_module_to_a_faster_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, compiler_cache: Path
) -> None:
    shutil.copy(EXAMPLE / "block.py", tmp_path / "block.py")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KERNEL_SCIENTIST_CACHE_FOLDER", str(compiler_cache))
    monkeypatch.setenv("KERNEL_SCIENTIST_RUNS_FOLDER", str(tmp_path / "runs"))
    assert run_command(["model", "scan", "block.py:Block"]) == 0
    words = ["model", "run", "Block-scan", "--on", "lab", "--author", "playbook", "--picks", "1", "--least-gain", "1.3"]
    assert run_command(words) == 0
    said = capsys.readouterr().out
    assert "Block_kernels: as by kernel-scientist model apply Block-scan" in said
    assert run_command(["model", "check", "Block_kernels", "block.py:Block", "--kernels", "lab", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["accepted"] and "no device: times were not compared" in answer["sentence"]
    assert any(kernel["replaced"] for kernel in answer["kernels"])
