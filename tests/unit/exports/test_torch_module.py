"""The text of a module for PyTorch; tests/gpu compiles and runs it."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from exports.launcher import Launcher
from exports.provenance import Provenance
from exports.torch_module import torch_module
from exports.torch_operator import TorchOperator
from records.errors import UsageError
from sandbox.candidate.prepare import prepare
from sandbox.target import load_target
from tasks.loader import load_task
from tasks.task import TensorSpec

OWN = Path(__file__).parents[3] / "benchmarks" / "kernels" / "own"
KNOWN = Provenance("a_task", "AMD Instinct MI300X (gfx942)", "ab" * 32, "r1, attempt g1", "on a GPU", 12.5, "measured")


def operator(name: str, target: str = "mi300x") -> TorchOperator:
    task, gpu = load_task(name, target), load_target(target)
    return TorchOperator(Launcher(prepare(task.seeds[0].read_text(encoding="utf-8"), task), gpu), gpu)


def module(name: str, target: str = "mi300x", provenance: Provenance = KNOWN) -> str:
    return torch_module(operator(name, target), provenance)


@pytest.mark.parametrize("name", ["row_softmax", "rms_norm", "transpose", "fp8_block_gemm"])
@pytest.mark.parametrize("target", ["mi300x", "h200"])
def test_the_module_is_python_with_one_function_of_the_inputs(name: str, target: str) -> None:
    text, task = module(name, target), load_task(name, target)
    functions = {n.name: n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)}
    assert [a.arg for a in functions[name].args.args] == [t.name for t in task.inputs]
    assert f'TORCH_LIBRARY({name}_{target}, m) {{ m.def("{name}(' in text
    assert ("compute_90a" in text) is (target == "h200") and ("--offload-arch=gfx942" in text) is (target == "mi300x")


@pytest.mark.parametrize(("target", "build", "platform"), [("mi300x", "hip", "ROCm"), ("h200", "cuda", "CUDA")])
def test_a_pytorch_built_for_the_other_platform_is_refused_in_one_sentence(
    target: str, build: str, platform: str
) -> None:
    tree = ast.parse(module("row_softmax", target))
    (guard,) = [node for node in tree.body if isinstance(node, ast.If)]
    assert ast.unparse(guard.test) == f"torch.version.{build} is None"
    torch = SimpleNamespace(version=SimpleNamespace(hip="7.0" if target == "h200" else None, cuda=None))
    with pytest.raises(ImportError, match=f"needs a PyTorch that is built for {platform}"):
        exec(compile(ast.Module([guard], []), "guard", "exec"), {"torch": torch})


def test_a_dim_that_no_input_shows_is_an_argument() -> None:
    text = module(str(OWN / "histogram"))
    assert "def histogram(values: torch.Tensor, bins: int) -> torch.Tensor:" in text
    assert 'm.def("histogram(Tensor values, int bins) -> Tensor")' in text


def test_a_dim_is_found_in_a_multiple_of_it() -> None:
    text = module(str(OWN / "rope"))
    assert "const int64_t half = " in text and "def rope(x: torch.Tensor, cosine: torch.Tensor, " in text


def test_columns_that_are_dense_are_asked_for_and_made() -> None:
    text = module("fp8_block_gemm")
    assert "a.t().is_contiguous()" in text and '"a must have columns that are dense in memory"' in text


def test_its_origin_is_said_and_a_predicted_time_is_called_predicted() -> None:
    assert "Measured time: 12.50 us" in module("row_softmax")
    text = module("row_softmax", provenance=replace(KNOWN, time_kind="predicted", verified_on="in the lab"))
    assert "Predicted time, never measured: 12.50 us" in text and "Verified: in the lab." in text
    assert "Not verified" in module("row_softmax", provenance=Provenance("a", "b", "c" * 64))


def test_a_type_that_pytorch_does_not_have_is_refused() -> None:
    task, gpu = load_task("row_softmax", "mi300x"), load_target("mi300x")
    launcher = Launcher(prepare(task.seeds[0].read_text(encoding="utf-8"), task), gpu)
    launcher.signature = replace(launcher.signature, inputs=(TensorSpec("x", "f4", ("rows", "cols")),))
    with pytest.raises(UsageError, match="no type for f4"):
        TorchOperator(launcher, gpu)
