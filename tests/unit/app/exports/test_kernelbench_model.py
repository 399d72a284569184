"""The candidate for KernelBench: its form, and what its static checks look for."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from app.exports.kernelbench_model import kernelbench_model
from records.errors import UsageError
from tests.support.exports import KNOWN, held, operator, run, torch_with

OWN = Path(__file__).parents[4] / "benchmarks" / "kernels" / "own"
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
    kept = os.environ.get("CXX")
    try:
        with torch_with(lambda x: ("made", x.flags.c_contiguous)) as calls:
            model = run(kernelbench_model(operator("row_softmax"), KNOWN))["ModelNew"](1, 2)
            assert model.forward(held([[1, 2], [3, 4]]).T) == ("made", True)
        assert os.environ["CXX"] == "hipcc"
    finally:
        os.environ.pop("CXX", None)
        if kept is not None:
            os.environ["CXX"] = kept
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


@pytest.mark.parametrize(
    ("name", "said"), [("fp8_block_gemm", "one of float32"), (str(OWN / "histogram"), "bins is in no input's shape")]
)
def test_what_the_form_cannot_hold_is_refused(name: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        kernelbench_model(operator(name), KNOWN)
