"""Exported kernels on a GPU: the project compiles and checks itself, the PyTorch module gives the judge's bits."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from exports.hip_project import hip_project
from exports.launcher import Launcher
from exports.provenance import Provenance
from exports.torch_module import Backward, torch_module
from exports.torch_operator import TorchOperator
from sandbox.candidate.prepare import prepare
from sandbox.gpu.gpu_pool import device_indices
from sandbox.target import load_target
from tasks.loader import load_task

ROOT = Path(__file__).parents[2]
TARGET = load_target("h200")
KERNELS = {
    "row_softmax": ROOT / "examples" / "row_softmax_h200.hip",
    "rms_norm": ROOT / "examples" / "rms_norm_h200.hip",
    "fp8_block_gemm": ROOT / "examples" / "fp8_block_gemm_h200.hip",
    "transpose": ROOT / "tasks" / "transpose" / "seed_tiled.hip",
}
KNOWN = Provenance("a task", "NVIDIA H200 (sm_90a)", "0" * 64)
NVCC = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
pytestmark = [
    pytest.mark.skipif(not device_indices(TARGET), reason="no H200 here"),
    pytest.mark.skipif(not Path(NVCC).exists(), reason="no nvcc here"),
]
# Runs in a process of its own: the module twice, under torch.compile too, and the project's own launcher on its inputs.
COMPARED = """
import ctypes, importlib, pathlib, sys
import torch
sys.path.insert(0, str(pathlib.Path(sys.argv[1]).parent))
module = importlib.import_module(pathlib.Path(sys.argv[1]).stem)
name, types = sys.argv[2], sys.argv[3].split(",")
function = getattr(module, name)
torch.manual_seed(1)
inputs = [eval(text.replace('|', ',')) for text in types]
first = function(*inputs)
assert torch.equal(first.view(torch.uint8), function(*inputs).view(torch.uint8)), "two calls differ"
traced = torch.compile(lambda *given: function(*given), fullgraph=True)
assert torch.equal(first.view(torch.uint8), traced(*inputs).view(torch.uint8)), "torch.compile differs"
library = ctypes.CDLL(sys.argv[4])
mine = torch.empty_strided(first.size(), first.stride(), dtype=first.dtype, device="cuda")
dims = [ctypes.c_longlong(int(text)) for text in sys.argv[5].split(",")]
scratch_bytes = getattr(library, name + "_scratch_bytes")
scratch_bytes.restype = ctypes.c_longlong
scratch = torch.empty(max(1, scratch_bytes(*dims)), dtype=torch.uint8, device="cuda")
pointers = [ctypes.c_void_p(t.data_ptr()) for t in (*inputs, mine)]
stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
status = getattr(library, name + "_launch")(*pointers, *dims, ctypes.c_void_p(scratch.data_ptr()), stream)
torch.cuda.synchronize()
assert status == 0 and torch.equal(first.view(torch.uint8), mine.view(torch.uint8)), "the launcher differs"
for bad in (inputs[0].cpu(), inputs[0].to(torch.float64)):
    try:
        function(bad, *inputs[1:])
    except (RuntimeError, NotImplementedError) as error:
        continue
    raise SystemExit("a wrong input was taken")
print("same", tuple(first.shape))
"""

# Gradients of the joined kernels beside PyTorch's own, with and without torch.compile, and by differences.
DIFFERENTIATED = """
import importlib, pathlib, sys
import torch
import torch.nn.functional as F
sys.path.insert(0, str(pathlib.Path(sys.argv[1]).parent))
module = importlib.import_module(pathlib.Path(sys.argv[1]).stem)
torch.manual_seed(1)
x, bias, weight = (torch.randn(shape, device="cuda") for shape in ((33, 65), (65,), (65, 33)))
calls = (lambda *given: F.gelu(given[0] + given[1], approximate="tanh"), module.bias_gelu)
found = []
for call in (*calls, torch.compile(module.bias_gelu, fullgraph=True)):
    given = [t.clone().requires_grad_() for t in (x, bias)]
    (call(*given).t() * weight).sum().backward()
    found.append([t.grad for t in given])
for mine in found[1:]:
    assert all(torch.allclose(a, b, rtol=1e-4, atol=1e-5) for a, b in zip(mine, found[0])), "the gradients differ"
assert module.check_gradients(x.clone().requires_grad_(), bias.clone().requires_grad_())
print("same gradients")
"""


def launcher(name: str) -> Launcher:
    task = load_task(name, "h200")
    return Launcher(prepare(KERNELS[name].read_text(encoding="utf-8"), task), TARGET)


def project(name: str, folder: Path) -> Path:
    for path, content in hip_project(launcher(name), TARGET, KNOWN).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder


def compiled(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    flags = [
        "-gencode=arch=compute_90a,code=sm_90a",
        "-std=c++20",
        "--expt-relaxed-constexpr",
        "--extra-device-vectorization",
    ]
    command = [NVCC, *flags, "-I.", "-Iinclude", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", KERNELS)
def test_the_project_compiles_and_its_self_check_passes_and_finds_a_fault(name: str, tmp_path: Path) -> None:
    folder = project(name, tmp_path)
    done = compiled(folder, f"{name}.cu", "self_check.cu", "-o", "self_check")
    assert done.returncode == 0, done.stderr
    ran = subprocess.run(["./self_check"], cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 0 and "passed" in ran.stdout, ran.stdout
    answer = next(path for path in sorted((folder / "data").iterdir()) if path.name.endswith(".answer"))
    answer.write_bytes(bytes(7 if n % 8 == 7 else b for n, b in enumerate(answer.read_bytes())))
    ran = subprocess.run(["./self_check"], cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 1 and "FAILED" in ran.stdout


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no PyTorch here")
@pytest.mark.parametrize(
    ("name", "inputs", "dims"),
    [
        ("row_softmax", "torch.randn((300|3001)|device='cuda')", "300,3001"),
        (
            "rms_norm",
            "torch.randn((257|1000)|device='cuda').bfloat16(),torch.randn(1000|device='cuda').bfloat16()",
            "257,1000",
        ),
        ("transpose", "torch.randn((129|70)|device='cuda')", "129,70"),
    ],
)
def test_the_module_gives_the_bits_of_the_launcher_under_torch_compile_too(
    name: str, inputs: str, dims: str, tmp_path: Path
) -> None:
    folder = project(name, tmp_path)
    done = compiled(folder, "-shared", "-Xcompiler", "-fPIC", f"{name}.cu", "-o", "library.so")
    assert done.returncode == 0, done.stderr
    module = tmp_path / f"{name}_torch.py"
    module.write_text(torch_module(TorchOperator(launcher(name), TARGET), KNOWN), encoding="utf-8")
    words = [sys.executable, "-c", COMPARED, str(module), name, inputs, str(folder / "library.so"), dims]
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    assert ran.returncode == 0 and "same" in ran.stdout, ran.stdout + ran.stderr[-3000:]


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no PyTorch here")
def test_autograd_calls_the_backward_kernel(tmp_path: Path) -> None:
    known = ROOT / "tests" / "support" / "bias_gelu_backward"
    made = []
    for folder in (ROOT / "tasks" / "bias_gelu", known):
        task = load_task(folder, "h200")
        text = (folder / "seed.hip").read_text(encoding="utf-8")
        made.append(TorchOperator(Launcher(prepare(text, task), TARGET), TARGET))
    module = tmp_path / "bias_gelu_torch.py"
    module.write_text(torch_module(made[0], KNOWN, Backward(made[1], KNOWN)), encoding="utf-8")
    words = [sys.executable, "-c", DIFFERENTIATED, str(module)]
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    assert ran.returncode == 0 and "same gradients" in ran.stdout, ran.stdout + ran.stderr[-3000:]
