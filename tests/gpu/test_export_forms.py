"""Exports in other benchmarks' forms on a GPU: their ways of building and calling a kernel give the judge's bits.

`KERNELBENCH` and `ROBUST_KBENCH` name checkouts of these; without one its evaluation is skipped.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from exports.flashinfer_trace import flashinfer_trace
from exports.gpumode_submission import gpumode_submission
from exports.kernelbench_model import kernelbench_model
from exports.robust_kbench import robust_kbench
from exports.torch_module import torch_module
from sandbox.gpu.gpu_pool import device_indices
from sandbox.target import load_target
from tests.support.exports import KNOWN, operator

ROOT = Path(__file__).parents[2]
KERNELBENCH = Path(os.environ.get("KERNELBENCH", "/nonexistent"))
ROBUST_KBENCH = Path(os.environ.get("ROBUST_KBENCH", "/nonexistent"))
PYCUDA = {"__init__.py": "", "autoinit.py": "", "driver.py": "class Device:\n    count = staticmethod(lambda: 0)\n"}
EVAL = ROOT / "tests" / "support" / "popcorn_eval.py"
SEEDS = {
    "row_softmax": ROOT / "examples" / "row_softmax_h200.hip",
    "transpose": ROOT / "tasks" / "transpose" / "seed_tiled.hip",
}
pytestmark = [
    pytest.mark.skipif(not device_indices(load_target("h200")), reason="no H200 here"),
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no PyTorch here"),
]
REFERENCE = """
import torch

def generate_input(rows, cols, seed):
    draw = torch.Generator(device="cuda").manual_seed(seed)
    x = torch.randn((rows, cols), generator=draw, device="cuda")
    return (x, torch.empty(({shape}), device="cuda"))

def check_implementation(data, output):
    wanted = {wanted}
    good = output.shape == wanted.shape and torch.allclose(output, wanted, rtol=1e-4, atol=1e-6)
    return good, "" if good else "mismatch"
"""
WANTED = {
    "row_softmax": ("rows, cols", "torch.softmax(data[0], 1)"),
    "transpose": ("cols, rows", "data[0].t().contiguous()"),
}
# The same inputs through all forms, each in its own way: argv are the folder and the kernel's name.
COMPARED = """
import importlib, json, pathlib, sys
import torch
folder, name = pathlib.Path(sys.argv[1]), sys.argv[2]
sys.path.insert(0, str(folder))
x = torch.randn((257, 1001), device="cuda")
first = getattr(importlib.import_module("module"), name)(x)
model = importlib.import_module("model").ModelNew().cuda()
assert torch.equal(model(x), first), "KernelBench's form differs"
assert torch.equal(model(x.t().contiguous().t()), first), "KernelBench's form needs dense inputs"
solution = importlib.import_module("solution")
given = torch.full_like(first, float("nan"))
solution.run(x, given)
assert torch.equal(given, first), "FlashInfer-Bench's form differs"
from torch.utils.cpp_extension import load
forward = load(name=f"robust_{name}", sources=[str(folder / "forward.cu")], extra_cuda_cflags=["-std=c++20"]).forward
torch.testing.assert_close(forward(x), first, rtol=1e-5, atol=1e-9)  # robust-kbench chooses the compiler's flags
function = importlib.import_module("func_forward")
torch.testing.assert_close(function.forward_fn(x), first, rtol=1e-4, atol=1e-6)
assert [tuple(t.shape) for t in function.get_inputs(rows=5, cols=7)] == [(5, 7)]
print("same")
"""
JUDGED = """
import importlib.util, json, pathlib, sys, types
sys.path.insert(0, sys.argv[1] + "/src")
clients = {"openai": "OpenAI", "litellm": "completion", "dotenv": "load_dotenv", "tqdm": "tqdm"}
for name, what in clients.items():  # its package imports them at once, and no evaluation asks them
    if importlib.util.find_spec(name) is None:
        sys.modules[name] = types.SimpleNamespace(**{what: lambda *given, **named: None})
from kernelbench.eval import eval_kernel_against_ref
import torch
problem, candidate = (pathlib.Path(path).read_text() for path in sys.argv[2:4])
made = eval_kernel_against_ref(problem, candidate, num_correct_trials=3, num_perf_trials=10, measure_performance=True,
                               backend="cuda", precision=torch.float32, build_dir=sys.argv[4])
print(json.dumps([made.compiled, made.correctness, made.runtime]))
"""
PROBLEM = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return {forward}

def get_inputs():
    return [torch.randn(513, 2049)]

def get_init_inputs():
    return []
"""
FORWARDS = {"row_softmax": "torch.softmax(x, dim=1)", "transpose": "x.t().contiguous()"}


def wrong(name: str, text: str) -> str:
    """The exported text with a fault in its device code."""
    before, after = {"row_softmax": ("expf(", "expf(0.99f * "), "transpose": ("= tile[", "= 1.5f + tile[")}[name]
    assert before in text
    return text.replace(before, after)


def ask(folder: Path, mode: str, cases: str) -> tuple[int, dict[str, str]]:
    """Runs the protocol; the exit status and the answers."""
    (folder / "cases.txt").write_text(cases, encoding="utf-8")
    read, write = os.pipe()
    command = [sys.executable, "eval.py", mode, "cases.txt"]
    env = {**os.environ, "POPCORN_FD": str(write)}
    with subprocess.Popen(command, cwd=folder, env=env, pass_fds=[write]) as process:
        os.close(write)
        with os.fdopen(read, encoding="utf-8") as pipe:
            lines = pipe.read().splitlines()
    return process.returncode, dict(line.split(": ", 1) for line in lines)


@pytest.mark.parametrize("name", SEEDS)
def test_a_submission_runs_by_the_protocol_and_a_wrong_one_fails(name: str, tmp_path: Path) -> None:
    text = gpumode_submission(operator(name, "h200", SEEDS[name].read_text(encoding="utf-8")), KNOWN)
    shape, wanted = WANTED[name]
    shutil.copy(EVAL, tmp_path / "eval.py")
    (tmp_path / "reference.py").write_text(REFERENCE.format(shape=shape, wanted=wanted), encoding="utf-8")
    (tmp_path / "submission.py").write_text(text, encoding="utf-8")
    cases = "rows: 7; cols: 1000; seed: 3\nrows: 130; cols: 31; seed: 4\n"
    code, told = ask(tmp_path, "test", cases)
    assert code == 0 and told["check"] == "pass" and told["test-count"] == "2"
    code, told = ask(tmp_path, "leaderboard", "rows: 2048; cols: 2048; seed: 5\n")
    assert code == 0 and float(told["benchmark.0.mean"]) > 0
    (tmp_path / "submission.py").write_text(wrong(name, text), encoding="utf-8")
    code, told = ask(tmp_path, "test", cases)
    assert code == 112 and told["check"] == "fail" and told["test.0.status"] == "fail"


@pytest.mark.parametrize("name", SEEDS)
def test_all_forms_give_the_same_bits(name: str, tmp_path: Path) -> None:
    made = operator(name, "h200", SEEDS[name].read_text(encoding="utf-8"))
    solution = next(b for p, b in flashinfer_trace(made, KNOWN).items() if p.startswith("solutions/"))
    texts = {
        "module.py": torch_module(made, KNOWN),
        "model.py": kernelbench_model(made, KNOWN),
        "solution.py": json.loads(solution)["sources"][0]["content"],
        **robust_kbench(made, KNOWN),
    }
    for path, text in texts.items():
        (tmp_path / path).write_text(text, encoding="utf-8")
    words = [sys.executable, "-c", COMPARED, str(tmp_path), name]
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    assert ran.returncode == 0 and "same" in ran.stdout, ran.stdout[-2000:] + ran.stderr[-3000:]


@pytest.mark.skipif(not KERNELBENCH.exists(), reason="KERNELBENCH names no checkout")
@pytest.mark.parametrize("name", SEEDS)
def test_kernelbench_takes_the_right_one_and_refuses_the_wrong_one(name: str, tmp_path: Path) -> None:
    text = kernelbench_model(operator(name, "h200", SEEDS[name].read_text(encoding="utf-8")), KNOWN)
    (tmp_path / "problem.py").write_text(PROBLEM.format(forward=FORWARDS[name]), encoding="utf-8")
    for made, is_right in ((text, True), (wrong(name, text), False)):
        (tmp_path / "candidate.py").write_text(made, encoding="utf-8")
        words = [str(KERNELBENCH), *(str(tmp_path / p) for p in ("problem.py", "candidate.py", f"build_{is_right}"))]
        ran = subprocess.run([sys.executable, "-c", JUDGED, *words], capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr[-3000:]
        compiled, correct, _ = json.loads(ran.stdout.splitlines()[-1])
        assert compiled and correct is is_right, ran.stdout[-2000:]


@pytest.mark.skipif(not ROBUST_KBENCH.exists(), reason="ROBUST_KBENCH names no checkout")
@pytest.mark.parametrize("name", ["row_softmax", "bias_gelu", "layer_norm", "transpose", "conv_nhwc"])
def test_robust_kbench_takes_the_right_one_and_refuses_the_wrong_one(name: str, tmp_path: Path) -> None:
    for path, text in PYCUDA.items():  # it asks this library for the GPUs' names and no more
        (tmp_path / "pycuda").mkdir(exist_ok=True)
        (tmp_path / "pycuda" / path).write_text(text, encoding="utf-8")
    program = ROBUST_KBENCH / "robust_kbench" / "primitives" / "forward" / "cuda_correct.py"
    texts, found = robust_kbench(operator(name, "h200"), KNOWN), []
    for kind in ("right", "wrong"):
        folder = tmp_path / f"{name}_{kind}"
        folder.mkdir()
        for path, text in texts.items():
            (folder / path).write_text(text, encoding="utf-8")
        kernel = texts["forward.cu"] if kind == "right" else off_by_a_half(texts["forward.cu"])
        (folder / "forward.cu").write_text(kernel, encoding="utf-8")
        words = ["--task_dir", str(folder), "--filename", str(folder / "forward.cu"), "--op_atol", "1e-3", "--op_rtol"]
        words += ["1e-3", "--num_correct_trials", "1", "--multi_input_settings", "--store_results"]
        paths = os.pathsep.join([str(ROBUST_KBENCH), str(tmp_path), os.environ.get("PYTHONPATH", "")])
        env = {**os.environ, "PYTHONPATH": paths, "TORCH_EXTENSIONS_DIR": str(tmp_path / "built"), "MAX_JOBS": "2"}
        subprocess.run([sys.executable, str(program), *words], env=env, capture_output=True, check=False)
        found.append(json.loads((folder / "eval_results" / "test_results.json").read_text(encoding="utf-8")))
    right, wrong = (each["summary"] for each in found)
    assert right["correct"] and len(right["all_configs_str"]) >= 3, str(found[0])[-3000:]
    assert not wrong["correct"] and "error" not in wrong, str(found[1])[-3000:]


def off_by_a_half(text: str) -> str:
    """The file with a fault in its kernel's last store."""
    kernel = text[: text.index("_scratch_bytes(")]
    last = list(re.finditer(r"(\b\w+\[[^;\n]*\] = )([^;\n]*);", kernel))[-1]
    return text[: last.start()] + last.expand(r"\1(\2) + 0.5f;") + text[last.end() :]
