"""`export`: files from a kernel file and from a run, and one sentence for what cannot be."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from app.cli import run_command

ROOT = Path(__file__).parents[2]
SEED = ROOT / "tasks" / "row_softmax" / "seed.hip"
FOR_TORCH = [str(SEED), "--task", "row_softmax", "--unchecked", "--as", "torch"]


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_file_becomes_a_project_and_is_never_written_over_unasked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["export", str(SEED), "--task", "row_softmax", "--unchecked", "--as", "hip"]
    assert run_command(words) == 0
    project = tmp_path / "row_softmax_hip"
    names = {path.name for path in project.iterdir()}
    assert names == {"row_softmax.hip", "row_softmax.h", "self_check.hip", "CMakeLists.txt", "README.md", "data"}
    assert "Not verified" in (project / "README.md").read_text(encoding="utf-8")
    (project / "README.md").write_text("mine", encoding="utf-8")
    capsys.readouterr()
    assert run_command(words) == 2
    assert "give --force" in capsys.readouterr().err
    assert (project / "README.md").read_text(encoding="utf-8") == "mine"
    assert run_command([*words, "--force"]) == 0
    assert (project / "README.md").read_text(encoding="utf-8") != "mine"


def test_a_module_for_pytorch_and_an_answer_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["export", str(SEED), "--task", "row_softmax", "--unchecked", "--as", "torch", "--target", "h200", "--json"]
    assert run_command([*words, "--out", "mine"]) == 0
    assert json.loads(capsys.readouterr().out)["files"] == ["mine.py"], "a name without an ending gets the form's"
    assert run_command(words) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["path"] == "row_softmax_torch.py" and answer["form"] == "torch"
    compile((tmp_path / answer["path"]).read_text(encoding="utf-8"), answer["path"], "exec")


def test_a_module_with_a_backward_kernel_says_where_both_come_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seed, gradients = ROOT / "tasks" / "bias_gelu" / "seed.hip", ROOT / "tests" / "support" / "bias_gelu_backward"
    words = ["export", str(seed), "--task", "bias_gelu", "--unchecked", "--as", "torch", "--backward"]
    words += [str(gradients / "seed.hip"), "--backward-task", str(gradients)]
    assert run_command(words) == 0
    assert "Bias and GELU of each element and its gradients" in capsys.readouterr().out
    text = (tmp_path / "bias_gelu_torch.py").read_text(encoding="utf-8")
    assert "A kernel for the task bias_gelu_backward on" in text and str(gradients) not in text
    assert 'torch.library.register_autograd("bias_gelu_mi300x::bias_gelu", _backward, setup_context=_setup)' in text


def test_a_backward_kernel_is_judged_as_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seed, gradients = ROOT / "tasks" / "bias_gelu" / "seed.hip", ROOT / "tests" / "support" / "bias_gelu_backward"
    wrong = tmp_path / "wrong.hip"
    text = (gradients / "seed.hip").read_text(encoding="utf-8")
    wrong.write_text(text.replace("sum += dx[at]", "sum += dy[at]"), encoding="utf-8")
    words = ["export", str(seed), "--task", "bias_gelu", "--as", "torch", "--backward", str(wrong)]
    assert run_command([*words, "--backward-task", str(gradients)]) == 1
    assert "dbias" in capsys.readouterr().out and not (tmp_path / "bias_gelu_torch.py").exists()


def test_a_task_of_a_folder_is_named_and_its_place_on_this_machine_is_not(tmp_path: Path) -> None:
    shutil.copytree(SEED.parent, tmp_path / "row_softmax")
    words = ["export", str(SEED), "--task", str(tmp_path / "row_softmax"), "--unchecked", "--as", "torch"]
    assert run_command(words) == 0
    text = (tmp_path / "row_softmax_torch.py").read_text(encoding="utf-8")
    assert "A kernel for the task row_softmax on" in text and str(tmp_path) not in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nothing"], "kernel-scientist demo"),
        ([str(SEED), "--as", "hip"], "--task NAME"),
        ([str(SEED), "--task", "row_softmax"], "name a form"),
        ([str(SEED), "--dataset"], "give a run"),
        ([str(SEED), "--as", "hip", "--task", "no_task", "--unchecked"], "no_task"),
        ([str(SEED), "--as", "hip", "--task", "fp8_block_gemm", "--unchecked"], "cannot be exported"),
        (["last", "--task", "row_softmax"], "is no file here"),
        (["last", "--dataset", "--as", "hip"], "a dataset has one form"),
        ([str(SEED), "--as", "hip", "--task", "row_softmax", "--unchecked", "--out", "x.hip"], "writes a folder"),
        ([*FOR_TORCH, "--backward", str(SEED)], "--backward-task NAME"),
        ([*FOR_TORCH, "--backward-task", "rms_norm"], "name the file with --backward"),
        ([*FOR_TORCH, "--backward", "no_run", "--backward-task", "rms_norm"], "no_run is no file here"),
        ([*FOR_TORCH, "--backward", str(SEED), "--backward-task", "row_softmax"], "a task with the name row_softmax"),
        ([*FOR_TORCH, "--as", "hip", "--backward", str(SEED)], "goes with --as torch"),
        (
            [str(SEED), "--as", "hip", "--task", "row_softmax", "--unchecked", "--out", "/proc/none/x"],
            "cannot be written",
        ),
    ],
)
def test_what_cannot_be_is_one_sentence(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["export", *words]) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1 and message in lines[0]


def test_a_wrong_kernel_is_not_exported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = tmp_path / "wrong.hip"
    wrong.write_text(SEED.read_text(encoding="utf-8").replace("expf(", "exp2f("), encoding="utf-8")
    assert run_command(["export", str(wrong), "--task", "row_softmax", "--as", "hip"]) == 1
    assert not (tmp_path / "row_softmax_hip").exists()
    assert "rejected" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("form", "target", "name", "path"),
    [
        ("kernelbench", "mi300x", "transpose_kernelbench.py", ""),
        ("gpumode", "mi300x", "transpose_submission.py", ""),
        ("robust-kbench", "h200", "transpose_robust_kbench", "forward.cu"),
        ("flashinfer", "mi300x", "transpose_flashinfer", "definitions/transpose/transpose.json"),
        ("hf-kernels", "mi300x", "transpose_hf", "build.toml"),
        ("arena", "mi300x", "transpose_arena", "config.yaml"),
    ],
)
def test_each_form_is_written_under_its_name(
    form: str, target: str, name: str, path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seed, out = SEED.parents[1] / "transpose" / "seed.hip", tmp_path / name
    words = ["export", str(seed), "--task", "transpose", "--unchecked", "--as", form, "--target", target, "--json"]
    assert run_command([*words, "--out", str(out)]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["form"] == form and str(out / path) in answer["files"]
    assert all(Path(file).stat().st_size or file.endswith("__init__.py") for file in answer["files"])
