"""`model apply` and `model check` as commands: the package of a stored scan, and what is no scan, kernel or package."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.cli import run_command

ROOT = Path(__file__).resolve().parents[2]
SCAN = ROOT / "tests" / "data" / "models" / "rows-scan"
TASK = ROOT / "benchmarks" / "kernels" / "models" / "add_rms_norm"
KERNEL = f"{TASK / 'seed.hip'}@{TASK}"


def test_a_kernel_file_becomes_a_package_and_other_shapes_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["model", "apply", str(SCAN), f"add_rms_norm={KERNEL}", "--unchecked", "--target", "h200"]
    assert run_command([*words, "--out", str(tmp_path / "rows_kernels"), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert "package.json" in answer["files"] and "kernels/add_rms_norm_kernel.cu" in answer["files"]
    unverified, elsewhere = answer["notes"]
    assert "was not verified here" in unverified
    assert elsewhere.startswith("add_rms_norm: its kernel was verified for other shapes or strides than the model's")
    facts = json.loads((tmp_path / "rows_kernels" / "package.json").read_text(encoding="utf-8"))
    assert (facts["arch"], facts["kernels"][0]["name"]) == ("sm_90a", "add_rms_norm")
    assert run_command([*words, "--out", str(tmp_path / "rows_kernels")]) == 2  # it is there


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([str(ROOT), "last"], "scan.json cannot be read"),
        ([str(SCAN), f"softmax={KERNEL}"], "the scan has no region 'softmax'; it has add_rms_norm"),
        ([str(SCAN), str(TASK / "seed.hip")], "say which task"),
        ([str(SCAN), KERNEL], "was made of no region of"),
    ],
)
def test_what_does_not_fit_is_one_sentence(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["model", "apply", *words, "--unchecked"]) == 2
    assert sentence in capsys.readouterr().err


def test_a_folder_that_is_no_package_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["model", "check", str(tmp_path), "model.py:Model"]) == 2
    said = capsys.readouterr().err
    assert "is no package that kernel-scientist model apply has written" in said or "setup torch" in said
