"""The candidate for KernelBench: its form, and what its static checks look for."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from exports.kernelbench_model import kernelbench_model
from exports.launcher import Launcher
from exports.torch_operator import TorchOperator
from records.errors import UsageError
from sandbox.candidate.prepare import prepare
from sandbox.target import load_target
from tasks.loader import load_task
from tasks.origin import Origin
from tests.support.exports import KNOWN, held, operator, run, torch_with

OWN = Path(__file__).parents[3] / "benchmarks" / "kernels" / "own"
SOURCE = """/*+++
[[launch]]
kernel = "first"
grid = ["rows"]
block = [64]
args = ["x", "y", "cols"]
+++*/
#include <hip/hip_runtime.h>
/* One pass, then another: try: it. */
extern "C" __global__ void first(const float* x, float* y, int cols) { int pass = 3; (void)pass; }
"""


def test_the_model_calls_the_kernel_with_dense_inputs() -> None:
    compiler = os.environ.get("CXX")
    try:
        with torch_with(lambda x: ("made", x.flags.c_contiguous)) as calls:
            model = run(kernelbench_model(operator("row_softmax"), KNOWN))["ModelNew"](1, 2)
            assert model.forward(held([[1, 2], [3, 4]]).T) == ("made", True)
        assert os.environ["CXX"] == "hipcc"
    finally:
        os.environ.pop("CXX", None)
        if compiler is not None:
            os.environ["CXX"] = compiler
    assert calls[0]["functions"] == ["row_softmax_operator"]


def test_its_text_can_stand_behind_other_lines() -> None:
    """KernelBench puts lines of its own before the file's."""
    text = kernelbench_model(operator("row_softmax", "h200"), KNOWN)
    with torch_with(lambda x: x):
        assert "ModelNew" in run(f"import os\n{text}")


def test_words_that_the_static_checks_refuse_are_gone() -> None:
    text = kernelbench_model(operator("row_softmax", source=SOURCE), KNOWN)
    code = "\n".join(line.partition("#")[0].partition("//")[0] for line in text.splitlines())
    assert not re.search(r"\bpass\b|\btry\s*:|\bexcept\b", code) and "int other = 3;" in code
    for word in ("__global__", "load_inline", "hipcc"):
        assert word in code


PROBLEM = """
class Model(nn.Module):
    def __init__(self, cols: int, eps: float = 1e-5):
        \"\"\"Pass the width.\"\"\"
        super(Model, self).__init__()
        self.norms = [Norm(cols)]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norms[0](x)
"""


def imported(folder: Path, problem: str = PROBLEM) -> TorchOperator:
    """The operator of layer_norm as if it came from a problem whose weights are x's norm's."""
    task, gpu = load_task("layer_norm"), load_target("mi300x")
    (folder / "original.py").write_text(problem, encoding="utf-8")
    names = {"w": "norms.0.weight", "b": "norms.0.bias"}
    inputs = tuple(replace(t, parameter=names.get(t.name, "")) for t in task.inputs)
    origin = Origin("40_Norm.py", form="kernelbench", file="original.py")
    task = replace(task, inputs=inputs, provenance=origin, folder=folder)
    return TorchOperator(Launcher(prepare(load_task("layer_norm").seeds[0].read_text(), task), gpu), gpu)


def test_weights_are_those_that_the_problems_constructor_makes(tmp_path: Path) -> None:
    text = kernelbench_model(imported(tmp_path), KNOWN)
    assert "def __init__(self, cols: int, eps: float=1e-05):" in text and "super().__init__()" in text
    assert "Pass the width" not in text and "self.norms = [Norm(cols)]" in text
    assert "def forward(self, x: torch.Tensor):" in text
    expected = "(x.contiguous(), self.norms[0].weight.contiguous(), self.norms[0].bias.contiguous())"
    assert f"COMPILED.layer_norm_operator{expected}" in text
    with pytest.raises(UsageError, match="x is no argument"):
        kernelbench_model(imported(tmp_path, PROBLEM.replace("self, x: torch.Tensor", "self, y")), KNOWN)


def test_a_buffer_that_the_model_updates_is_kept_and_not_returned(tmp_path: Path) -> None:
    updating = imported(tmp_path)
    (y,) = updating.signature.outputs
    updating.signature = replace(updating.signature, outputs=(y, replace(y, name="new_w")))
    body = kernelbench_model(updating, KNOWN).rpartition("def forward")[2]
    assert f"{y.name}, new_w = COMPILED." in body
    assert body.rstrip().endswith(f"self.norms[0].weight.copy_(new_w)\n        return {y.name}")


def test_a_number_without_axes_is_allocated() -> None:
    softmax = operator("row_softmax")
    softmax.signature = replace(softmax.signature, outputs=(replace(softmax.signature.outputs[0], shape=()),))
    assert "at::Tensor y = at::empty(std::vector<int64_t>{}, " in softmax.function("returns")


@pytest.mark.parametrize(
    ("name", "message"), [("fp8_block_gemm", "one of float32"), (str(OWN / "histogram"), "bins is in no input's shape")]
)
def test_what_the_form_cannot_hold_is_refused(name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        kernelbench_model(operator(name), KNOWN)
