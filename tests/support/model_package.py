"""A package that puts two shipped kernels into the model of model_block.py, and the patterns of its regions."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from exports.launcher import Launcher
from exports.models.package_files import RegionKernel, package_files
from exports.provenance import Provenance
from exports.torch_module import Backward
from exports.torch_operator import TorchOperator
from records.model_scan import ModelRegion, ModelTensor, PatternNode, RegionPattern
from sandbox.candidate.prepare import prepare
from sandbox.target import load_target
from tasks.loader import load_task
from tests.support.compiler_cache import FOLDER as CACHE

ROOT = Path(__file__).resolve().parents[2]
KNOWN = Provenance("a_task", "AMD Instinct MI300X (gfx942)", "ab" * 32, verified_on="in the lab")


def node(name: str, target: str, *arguments: Any, **named: Any) -> PatternNode:
    return PatternNode(name, f"aten.{target}", arguments, named)


def of(name: str) -> dict[str, str]:
    return {"node": name}


def given(name: str) -> dict[str, str]:
    return {"input": name}


def tensor(name: str, dtype: str, *shape: int) -> ModelTensor:
    return ModelTensor(name, dtype, shape, tuple([*shape[1:], 1][axis] for axis in range(len(shape))))


RMS_NORM = RegionPattern(
    nodes=(
        node("wide", "_to_copy.default", given("x"), dtype={"dtype": "f32"}),
        node("squared", "pow.Tensor_Scalar", of("wide"), 2),
        node("mean", "mean.dim", of("squared"), [-1], True),
        node("shifted", "add.Tensor", of("mean"), 1e-06),
        node("scale", "rsqrt.default", of("shifted")),
        node("normed", "mul.Tensor", of("wide"), of("scale")),
        node("weighted", "mul.Tensor", of("normed"), given("weight")),
        node("narrow", "_to_copy.default", of("weighted"), dtype={"dtype": "bf16"}),
    ),
    inputs=(tensor("x", "bf16", 3, 64), tensor("weight", "bf16", 64)),
    outputs=("narrow",),
    occurrences=(("_to_copy", "pow_1", "mean", "add", "rsqrt", "mul", "mul_1", "_to_copy_1"),),
)
BIAS_GELU = RegionPattern(
    nodes=(
        node("added", "add.Tensor", given("x"), given("bias")),
        node("gelu", "gelu.default", of("added"), approximate="tanh"),
    ),
    inputs=(tensor("x", "f32", 3, 64), tensor("bias", "f32", 64)),
    outputs=("gelu",),
    occurrences=(("add_1", "gelu"),),
)
PATTERNS = {"rms_norm": RMS_NORM, "bias_gelu": BIAS_GELU}


def region(name: str, pattern: RegionPattern) -> ModelRegion:
    operators = tuple(row.target for row in pattern.nodes)
    times = {"count": 1, "time_us": 10.0, "share": 0.3, "bytes": 1e4, "flops": 1e4, "bound_by": "hbm"}
    gains = {"roofline_us": 5.0, "gap": 2.0, "model_gain": 1.1, "is_task": True, "reason": ""}
    outputs = (pattern.inputs[0],)
    return ModelRegion(name, "chain", pattern.occurrences[0], operators, pattern.inputs, outputs, **times, **gains)


def region_kernel(name: str, target: str = "mi300x", has_backward: bool = False, source: str = "") -> RegionKernel:
    """The shipped task's first seed, or another source, for the region."""
    gpu, task = load_target(target), load_task(name, target)
    text = source or task.seeds[0].read_text(encoding="utf-8")
    backward = None
    if has_backward:
        folder = ROOT / "tests" / "support" / f"{name}_backward"
        known = prepare((folder / "seed.hip").read_text(encoding="utf-8"), load_task(folder, target))
        backward = Backward(TorchOperator(Launcher(known, gpu), gpu), KNOWN)
    launcher, pattern = Launcher(prepare(text, task), gpu), PATTERNS[name]
    return RegionKernel(region(name, pattern), pattern, launcher, KNOWN, text, {}, task.folder, (), backward)


def with_tests(kernel: RegionKernel, *names: str) -> RegionKernel:
    """The same, verified for these cases alone."""
    return replace(kernel, verified=names)


def written(folder: Path, kernels: Sequence[RegionKernel], target: str = "mi300x", name: str = "kernels") -> ModuleType:
    """Write the package and import it."""
    place = folder / name
    for path, content in package_files("Block", name, kernels, load_target(target), CACHE).items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_bytes(content)
    spec = importlib.util.spec_from_file_location(name, place / "__init__.py", submodule_search_locations=[str(place)])
    assert spec is not None and spec.loader is not None
    for known in [word for word in sys.modules if word == name or word.startswith(f"{name}.")]:
        del sys.modules[known]
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
