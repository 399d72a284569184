"""From a file of one's own to files in its form: through the command, Python, MCP and the graph, without PyTorch."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli import run_command
from tests.support.compiler_cache import share_toolchain

ROOT = Path(__file__).resolve().parents[2]
KERNEL = """
// y = relu(a * x + b), from a blog
__global__ void bias_relu(const float* x, const float* b, float* y, float a, int rows, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * cols) {
        float v = a * x[i] + b[i % cols];
        y[i] = v > 0.0f ? v : 0.0f;
    }
}
"""
REFERENCE = "import numpy as np\n\n\ndef bias_relu(x, b, a):\n    return np.maximum(a * x + b, 0)\n"
FUNCTION = "import numpy as np\n\n\ndef shifted(x, bias, scale=0.75):\n    return x * scale + bias\n"
INPUTS = ["x=f32[rows,cols]", "b=f32[cols]", "y=f32[rows,cols]", "a=0.5"]
LAUNCH = {"grid": ["ceil_div(rows * cols, 256)"], "block": ["256"]}
OPTIONS = [
    *(word for text in INPUTS for word in ("--input", text)),
    *("--size", "rows=256,cols=512", "--grid", LAUNCH["grid"][0], "--block", "256", "--reference", "ref.py"),
]
SMALL = ["--author", "playbook", "--generations", "1", "--quiet"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KERNEL_SCIENTIST_CACHE_FOLDER", str(share_toolchain(tmp_path / "cache")))
    (tmp_path / "blog.hip").write_text(KERNEL)
    (tmp_path / "ref.py").write_text(REFERENCE)
    (tmp_path / "shifted.py").write_text(FUNCTION)
    return tmp_path


def check_own_files(result: Path) -> None:
    """A launcher with the parameters of the kernel, the number among them; the kernel, the report and the task."""
    assert "bias_relu_launch(" in (result / "bias_relu.h").read_text()
    names = {path.name for path in result.iterdir()}
    assert {"bias_relu.hip", "bias_relu.h", "best.hip", "report.html", "task", "README.md"} <= names


def test_a_blogs_kernel_becomes_a_folder_with_a_launcher(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = run_command(["optimise", "blog.hip", *OPTIONS, *SMALL])
    out, err = capsys.readouterr()
    assert code in (0, 1), err
    assert "bias_relu-optimised/bias_relu.hip" in out and "resume" in out and "--author llm" in out
    check_own_files(folder / "bias_relu-optimised")
    task = folder / "bias_relu-optimised/task"
    is_handed_on = '"y", "a", "rows"' in (task / "seed.hip").read_text()
    assert is_handed_on or ('frozen = "a = 0.5"' in (task / "task.toml").read_text() and "a = 0.5" in out)
    assert run_command(["optimise", "blog.hip", *OPTIONS, *SMALL]) == 2
    assert "--force" in capsys.readouterr().err


@pytest.mark.long
def test_a_function_comes_back_with_its_own_parameters(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--input", "x=f32[rows,cols]", "--input", "bias=f32[cols]", "--size", "rows=256,cols=512"]
    assert run_command(["optimise", "shifted.py", *words, *SMALL, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["written"]["path"].startswith("shifted-optimised/")
    assert 'parameters = "x, bias, scale=0.75"' in (folder / "shifted-optimised/task/task.toml").read_text()


@pytest.mark.long
def test_at_a_terminal_it_asks_for_what_is_missing(folder: Path) -> None:
    main, child = pty.openpty()
    command = [sys.executable, "-P", "-c", "from app.cli import main; main()", "optimise", "blog.hip", *SMALL]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm"}
    lines = ["256", "512", "", "f32[cols]", "", "0.5", "", "", "ref.py"]
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdin=child, stdout=subprocess.DEVNULL, stderr=child, close_fds=True
    )
    os.close(child)
    os.write(main, ("\n".join(lines) + "\n").encode())
    text = b""
    while True:
        try:
            part = os.read(main, 4096)
        except OSError:
            break
        text += part
    os.close(main)
    assert process.wait() in (0, 1), text.decode()
    assert b"the size rows" in text and b"[ceil_div(rows * cols, 256)]" in text
    check_own_files(folder / "bias_relu-optimised")


@pytest.mark.long
def test_a_kernel_for_a_task_begins_the_search(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seed = (ROOT / "tasks/transpose/seed.hip").read_text()
    (folder / "mine.hip").write_text(seed)
    assert run_command(["optimise", "mine.hip", "--task", "transpose", *SMALL, "--json"]) in (0, 1)
    answer = json.loads(capsys.readouterr().out)
    assert Path(answer["written"]["path"]).is_file() and answer["best"]["geomean_us"] > 0
