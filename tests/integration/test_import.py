"""Files of strangers become tasks, or one sentence says why not and nothing is left."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import shutil
from pathlib import Path

import pytest

from app.cli import run_command
from app.settings import load_settings
from app.task_folders import open_sound_task
from app.task_making import with_right_seed
from imports.names import NAIVE, TUNED

HAS_TORCH = importlib.util.find_spec("torch") is not None
needs_torch = pytest.mark.skipif(not HAS_TORCH, reason="the extra `torch` is not installed")
HEAD = "import torch\nimport torch.nn as nn\nrows = 64\n"
TAIL = "def get_inputs():\n    return [torch.rand(rows, 32)]\n"
BIAS_GELU = "import torch.nn.functional as F\n\ndef bias_gelu(x, bias):\n    return F.gelu(x + bias)\n"
SHAPES = ["--input", "x=f32[rows,cols]", "--input", "bias=f32[cols]", "--size", "rows=4096,cols=4096"]
MODULE = (
    "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n        {}\n"
    "    def forward(self, x):\n"
)
INIT = "def get_init_inputs():\n    return []\n"
BAD = {
    "network": (
        HEAD + "import socket\nsocket.create_connection(('10.0.0.1', 80), 2)\ndef f(x):\n    return x\n" + TAIL,
        "it does not run: ",
    ),
    "writes": (HEAD + "def f(x):\n    open('{place}/left', 'w')\n    return x * 2\n" + TAIL, "without files of yours"),
    "shapes": (
        HEAD + "n = []\ndef f(x):\n    n.append(1)\n    return x[: 1 + len(n) % 2]\n" + TAIL,
        "returns other shapes on a second call",
    ),
    "dropout": (
        HEAD + MODULE.format("self.d = nn.Dropout()") + "        return self.d(x)\n" + TAIL + INIT,
        "uses dropout in training mode",
    ),
    "heavy": (
        HEAD + MODULE.format("self.l = nn.Linear(50000, 50000)") + "        return self.l(x)\n" + TAIL + INIT,
        "GiB",
    ),
    "heavy_by_name": (
        HEAD.replace("64", "50000")
        + MODULE.format("self.l = nn.Linear(rows, rows)")
        + "        return self.l(x)\n"
        + TAIL.replace("rows, 32", "8, rows")
        + INIT,
        "8 GiB at its own sizes",
    ),
    "endless": (HEAD + "while True:\n    pass\n" + TAIL, "it does not end within 60 s of processor time"),
    "hoard": (
        HEAD + "kept = []\nwhile True:\n    kept.append(b'a' * (1 << 24))\n" + TAIL,
        "it takes more than 1.5 GiB",
    ),
    "crash": (HEAD + "import ctypes\nctypes.string_at(0)\ndef f(x):\n    return x\n" + TAIL, "crashed (SIGSEGV)"),
    "flood": (HEAD + "print('a' * (1 << 28))\ndef f(x):\n    return x\n" + TAIL, "prints more than an import may"),
    "exit": (HEAD + "raise SystemExit(0)\n" + TAIL, "it does not run: SystemExit"),
    "forks": (HEAD + "import os\nwhile True:\n    os.fork()\n" + TAIL, "it does not run: PermissionError"),
    "words": ("this is {{{ no Python\n", "is not Python"),
}


@pytest.fixture
def workdir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["new", "1x", "--from", "f.py"], "letters, digits and underscores"),
        (["new", "t", "--from", "absent.py"], "absent.py is not there"),
        (["new", "t", "--from", "pipe.py"], "pipe.py is no file"),
        (["new", "t", "--from", "."], "is a folder"),
        (["new", "taken", "--from", "f.py"], "is there already"),
        (["new", "t", "--from", "f.py:f", "--input", "x=f33[a]"], "--input takes NAME=TYPE[DIM,...]"),
        (["new", "t", "--from", "f.py:f", "--input", "x=f32[a]", "--size", "a=0"], "--size takes DIM=N"),
        (["new", "t", "--from", "f.py:f", "--input", "x=f32[a,3,b]", "--size", "a=4"], "names b, and no --size does"),
        (["new", "t", "--from", "f.py:f", "--input", "x=f32[a,00]", "--size", "a=4"], "its sizes are 1 or more"),
        (["new", "t", "--from", "f.py:f", "--input", "x=i64[a]:0", "--size", "a=4"], "and so is its limit"),
        (["new", "t", "--from", "f.py:f", "--input", "x=i64[a]:b", "--size", "a=4"], "names b, and no --size does"),
        (["new", "t", "--from", "f.py:f", "--input", "x=f32[3*b,a]", "--size", "a=4"], "names b, and no --size does"),
        (["new", "t", "--from", "f.py:f", "--input", "x=f32[a-4]", "--size", "a=4"], "no elements or values"),
        (["new", "t", "--from", "f.py:f", "--input", "x=f32[a,]", "--size", "a=4"], "--input takes NAME=TYPE[DIM,...]"),
        (["new", "t", "--from", "f.py:f", "--input", "x=f32[a//0]", "--size", "a=4"], "divides by zero"),
        (["new", "t", "--from", "f.py:f", "--input", "x=f32[a/2]", "--size", "a=4"], "--input: in the expression"),
        (["new", "t", "--from", "f.py:f", "--input", "a=f32[a]", "--size", "a=4"], "stands for a size and for an"),
        (["new", "t", "--from", "f.py:f", "--input", "x=i8[a]:a", "--size", "a=129"], "up to its limit 129"),
        (["new", "t", "--from", "f.py:f", "--input", "x=f32[a]:9", "--size", "a=4"], "only whole numbers"),
        (["new", "t", "--from", "bytes.py"], "is not Python"),
    ],
)
def test_a_wrong_command_is_one_sentence(
    workdir: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    (workdir / "f.py").write_text(BIAS_GELU)
    (workdir / "bytes.py").write_bytes(b"\xff\xfe\x00\x80")
    (workdir / "taken").mkdir()
    os.mkfifo(workdir / "pipe.py")
    assert run_command(["tasks", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert not (workdir / "t").exists()


def test_a_machine_without_pytorch_is_told_how_to_get_it(workdir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if HAS_TORCH:
        pytest.skip("PyTorch is installed")
    (workdir / "f.py").write_text(BIAS_GELU)
    assert run_command(["tasks", "new", "t", "--from", "f.py:bias_gelu", *SHAPES]) == 2
    assert "setup torch" in capsys.readouterr().err


@needs_torch
def test_a_pytorch_function_becomes_a_task_with_a_seed(workdir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (workdir / "f.py").write_text(BIAS_GELU)
    out = workdir / "bias_gelu"
    assert run_command(["tasks", "new", "bias_gelu", "--from", "f.py:bias_gelu", "--out", str(out), *SHAPES]) == 0
    assert f"{out}: sound; next: kernel-scientist run {out}\n" in capsys.readouterr().out
    files = {path.name: path.read_text() for path in (workdir / "bias_gelu").iterdir()}
    assert set(files) == {"task.toml", "reference.py", "original.py", NAIVE, TUNED}
    assert files["original.py"] == BIAS_GELU
    stored = Path(__file__).parents[1] / "support" / "bias_gelu"
    same = "the stored import is not what an import gives now"
    assert files["seed.hip"] == (stored / "seed.hip").read_text(), same
    tree, stored_tree = (
        ast.dump(ast.parse(text)) for text in (files["reference.py"], (stored / "reference.py").read_text())
    )
    assert tree == stored_tree, same


@needs_torch
def test_a_size_that_is_a_number_stays(workdir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "import torch\nclass Scaled(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    text += "        self.w = torch.nn.Parameter(torch.ones(96))\n"
    text += "    def forward(self, x):\n        return x * self.w\n"
    (workdir / "f.py").write_text(text)
    words = ["--input", "x=f32[rows,96]", "--size", "rows=4096", "--out", str(workdir / "scaled")]
    assert run_command(["tasks", "new", "scaled", "--from", "f.py:Scaled", *words]) == 0
    assert "x: f32[rows, 96]" in capsys.readouterr().out


@needs_torch
@pytest.mark.long
@pytest.mark.parametrize("name", sorted(BAD))
def test_what_cannot_be_a_task_is_one_sentence_and_leaves_nothing(
    workdir: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    text, message = BAD[name]
    (workdir / "bad.py").write_text(text.replace("{place}", str(workdir)))
    assert run_command(["tasks", "new", "t", "--from", "bad.py"]) == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("kernel-scientist: ")]
    assert len(lines) == 1 and message in lines[0] and "Traceback" not in lines[0]
    assert [path.name for path in workdir.iterdir()] == ["bad.py"]


def test_an_import_ends_in_a_module(workdir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The part that needs no PyTorch: the stored import is judged, and its kernel exported."""
    stored = Path(__file__).parents[1] / "support" / "bias_gelu"
    shutil.copytree(stored, workdir / "bias_gelu")
    export = ["export", "bias_gelu/seed.hip", "--task", "./bias_gelu", "--as", "torch"]
    assert run_command([*export, "--out", "module.py"]) == 0
    module = (workdir / "module.py").read_text()
    assert "TORCH_LIBRARY" in module and "bias_gelu" in module
    compile(module, "module.py", "exec")


@pytest.mark.slow
@pytest.mark.parametrize("is_right", [True, False])
def test_an_import_keeps_no_kernel_that_the_lab_rejects(workdir: Path, is_right: bool) -> None:
    folder, settings = workdir / "bias_gelu", load_settings()
    shutil.copytree(Path(__file__).parents[1] / "support" / "bias_gelu", folder)
    seed = folder / "seed.hip"
    if not is_right:
        seed.write_text(seed.read_text().replace(") return;", " - 1) return;"))
    task, notes = with_right_seed(settings, folder, open_sound_task(settings, str(folder)))
    assert seed.exists() is is_right and bool(task.seeds) is is_right
    assert [note.startswith("no seed: the generated kernel does not pass: ") for note in notes] == [True] * (
        not is_right
    )


@pytest.mark.long
def test_a_run_on_an_import_finds_a_faster_kernel_and_exports_it(
    workdir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(Path(__file__).parents[1] / "support" / "bias_gelu", workdir / "bias_gelu")
    run = ["run", "./bias_gelu", "--author", "playbook", "--on", "lab", "--generations", "1", "--json"]
    assert run_command(run) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["best"]["speedup_over_naive_seed"] > 1
    assert run_command(["export", answer["run_id"], "--as", "torch", "--out", "module.py"]) == 0
    assert "TORCH_LIBRARY" in (workdir / "module.py").read_text()
