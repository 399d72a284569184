"""Two kernels joined by autograd: the module's text, and its Python half under a PyTorch on the CPU."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from exports.gradient import Gradient
from exports.launcher import Launcher
from exports.torch_module import Backward, torch_module
from exports.torch_operator import TorchOperator
from records.errors import UsageError
from sandbox.candidate.prepare import prepare
from sandbox.target import load_target
from tasks.loader import load_task
from tests.support.exports import KNOWN, operator

BACKWARD = Path(__file__).parents[2] / "support" / "bias_gelu_backward"
H200 = load_target("h200")
# The kernels' place is taken by PyTorch's own functions on a CPU; all else is the module's.
ON_A_CPU = """
import pathlib, re, sys
import torch
import torch.nn.functional as F
import torch.utils.cpp_extension

def forward(x, bias):
    return F.gelu(x + bias, approximate="tanh")

def backward(x, bias, dy):
    assert dy.is_contiguous()
    with torch.enable_grad():
        given = [t.detach().requires_grad_() for t in (x, bias)]
        dx, dbias = torch.autograd.grad(forward(*given), given, dy)
    return dx.clone(), dbias.clone() * (2 if "wrong" in sys.argv else 1)

KEPT = []

def load_inline(name, cpp_sources, **rest):
    library = torch.library.Library(name, "DEF")
    schema = re.search(r'm[.]def[(]"(.*?)"[)]', cpp_sources[0])[1]
    library.define(schema)
    library.impl(schema.split("(")[0], backward if "backward" in name else forward, "CPU")
    KEPT.append(library)

torch.utils.cpp_extension.load_inline = load_inline
torch.version.cuda = torch.version.cuda or "13.0"
space = {"__name__": "module"}
exec(compile(pathlib.Path(sys.argv[1]).read_text(), "module", "exec"), space)
function = space["bias_gelu"]
torch.manual_seed(1)
x, bias = torch.randn(5, 7), torch.randn(7)
with torch.no_grad():
    assert torch.equal(function(x, bias), forward(x, bias))
mine, theirs = ([t.clone().requires_grad_() for t in (x, bias)] for _ in range(2))
for call, given in ((function, mine), (forward, theirs)):
    call(*given).t().square().sum().backward()  # a gradient that is not contiguous
print("gradients", all(torch.allclose(a.grad, b.grad) for a, b in zip(mine, theirs)))
traced = torch.compile(function, fullgraph=True, backend="aot_eager")
again = [t.clone().requires_grad_() for t in (x, bias)]
traced(*again).square().sum().backward()
print("compiled", all(torch.allclose(a.grad, b.grad) for a, b in zip(again, mine)))
print("checked", space["check_gradients"](*mine))
"""
WITHOUT = "if 1:\n    x = torch.randn(5, 7, requires_grad=True)\n    function(x, torch.randn(7)).sum().backward()\n"
needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="the extra `torch` is not installed")


def gradients(**changes: str) -> TorchOperator:
    """The backward kernel; `changes` are new names of its tensors."""
    task, source = load_task(BACKWARD, "h200"), (BACKWARD / "seed.hip").read_text(encoding="utf-8")
    inputs, outputs = (
        tuple(replace(t, name=changes.get(t.name, t.name)) for t in tensors) for tensors in (task.inputs, task.outputs)
    )
    for name, other in changes.items():
        source = source.replace(f'"{name}"', f'"{other}"')
    return TorchOperator(Launcher(prepare(source, replace(task, inputs=inputs, outputs=outputs)), H200), H200)


def ran(folder: Path, program: str, module: str, *words: str) -> subprocess.CompletedProcess[str]:
    path = folder / "module.py"
    path.write_text(module, encoding="utf-8")
    command = [sys.executable, "-c", program, str(path), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def joined() -> str:
    return torch_module(operator("bias_gelu", "h200"), KNOWN, Backward(gradients(), KNOWN))


@needs_torch
def test_autograd_calls_the_backward_kernel_under_torch_compile_too(tmp_path: Path) -> None:
    process = ran(tmp_path, ON_A_CPU, joined())
    assert process.stdout.split("\n")[:3] == ["gradients True", "compiled True", "checked True"], process.stderr[-2000:]


@needs_torch
def test_a_tensor_may_have_the_name_of_a_builtin(tmp_path: Path) -> None:
    bias_gelu = operator("bias_gelu", "h200")
    task, source = (
        bias_gelu.launcher.task,
        bias_gelu.launcher.task.seeds[0].read_text(encoding="utf-8").replace('"x"', '"zip"'),
    )
    inputs = tuple(replace(t, name={"x": "zip"}.get(t.name, t.name)) for t in task.inputs)
    forward = TorchOperator(Launcher(prepare(source, replace(task, inputs=inputs)), H200), H200)
    process = ran(tmp_path, ON_A_CPU, torch_module(forward, KNOWN, Backward(gradients(x="zip", dx="dzip"), KNOWN)))
    assert "gradients True" in process.stdout, process.stderr[-2000:]


def test_a_tensor_with_the_name_of_pytorch_is_refused() -> None:
    with pytest.raises(UsageError, match="the name 'torch' is PyTorch's own"):
        gradients(x="torch", dx="dtorch")


@needs_torch
def test_the_check_of_the_gradients_finds_a_wrong_one(tmp_path: Path) -> None:
    process = ran(tmp_path, ON_A_CPU, joined(), "wrong")
    assert process.returncode == 1 and "Jacobian mismatch" in process.stderr


@needs_torch
def test_without_a_backward_kernel_a_backward_pass_ends_with_a_sentence(tmp_path: Path) -> None:
    program = ON_A_CPU[: ON_A_CPU.index("mine, theirs")] + WITHOUT
    process = ran(tmp_path, program, torch_module(operator("bias_gelu", "h200"), KNOWN))
    assert process.returncode == 1
    assert process.stderr.splitlines()[-1].endswith("bias_gelu has no backward kernel: call it under torch.no_grad()")


def test_both_kernels_are_compiled_and_both_origins_said() -> None:
    text = joined()
    assert text.count("load_inline(  #") == 2 and text.count("exported by GPU Kernel Scientist") == 2
    assert 'register_autograd("bias_gelu_h200::bias_gelu", _backward, setup_context=_setup)' in text


@pytest.mark.parametrize(
    "names", [{"dy": "grad_y", "dx": "grad_x", "dbias": "grad_bias"}, {"dy": "grad_output", "dx": "y0", "dbias": "y1"}]
)
def test_gradients_go_by_other_names_and_by_their_order(names: dict[str, str]) -> None:
    text = torch_module(operator("bias_gelu", "h200"), KNOWN, Backward(gradients(**names), KNOWN))
    outputs = f"{names['dx']}, {names['dbias']}"
    assert f"    {outputs} = torch.ops.bias_gelu_backward_h200.bias_gelu_backward(x, bias, y_.contiguous())" in text
    assert f"    return {outputs}\n" in text


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"dy": "slope"}, "reads slope, which is no tensor of bias_gelu: a gradient is named dy"),
        ({"dx": "slope"}, "returns slope, which is no gradient: they are named dx, dbias"),
        ({"x": "bias", "bias": "x"}, "bias of bias_gelu has the type f32 and 1 axes"),
    ],
)
def test_what_does_not_belong_together_is_refused_in_one_sentence(names: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Gradient(operator("bias_gelu", "h200"), gradients(**names))


def test_kernels_of_two_targets_or_of_one_task_are_refused() -> None:
    with pytest.raises(UsageError, match="one kernel is for the"):
        Gradient(operator("bias_gelu", "mi300x"), gradients())
    with pytest.raises(UsageError, match="a task with the name bias_gelu"):
        Gradient(operator("bias_gelu", "h200"), operator("bias_gelu", "h200"))
