"""A submission has the form and the manners that the boards ask for."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from exports.gpumode_submission import gpumode_submission
from exports.launcher import Launcher
from exports.torch_operator import TorchOperator
from records.errors import UsageError
from sandbox.candidate.prepare import prepare
from sandbox.target import load_target
from tasks.loader import load_task
from tests.support.exports import KNOWN, held, operator, run, torch_with

OWN = Path(__file__).parents[3] / "benchmarks" / "kernels" / "own"
SOURCE = """/*+++
[[launch]]
kernel = "upstream"
grid = ["rows"]
block = [64]
args = ["x", "y", "cols"]
+++*/
#include <hip/hip_runtime.h>
// It would stream the row.
#define STREAMS 3 /* of the Stream */
struct Streamer { int streamed[STREAMS]; };
extern "C" __global__ void upstream(const float* x, float* y, int cols) { Streamer s; (void)s; }
"""


@pytest.mark.parametrize("target", ["mi300x", "h200"])
@pytest.mark.parametrize("name", ["row_softmax", "rms_norm", "transpose", "fp8_block_gemm"])
def test_the_forbidden_word_is_nowhere(name: str, target: str) -> None:
    text = gpumode_submission(operator(name, target), KNOWN)
    assert "stream" not in text.lower() and "Predicted time, never measured" in text
    assert ('os.environ["CXX"] = "clang++"' in text) is (target == "mi300x")


def test_names_with_the_word_get_another_one_and_comments_go() -> None:
    text = gpumode_submission(operator("row_softmax", source=SOURCE), KNOWN)
    assert "stream" not in text.lower()
    assert "struct Queueer { int queueed[QUEUES]; };" in text and "void upqueue(" in text and "(::upqueue)" in text


def test_a_grid_that_waits_for_itself_is_launched_on_the_null_queue_too() -> None:
    source = SOURCE.replace("block = [64]", "block = [64]\ncooperative = true")
    text = gpumode_submission(operator("row_softmax", source=source), KNOWN)
    (macro,) = re.findall(r"(?m)^#define KERNEL_LAUNCH_TOGETHER(?:.*\\\n)*.*hip.*$", text)
    assert macro.endswith("hipLaunchCooperativeKernel(f, grid, block, args, lds, 0)"), "a void* is no queue in C++"
    assert "KERNEL_LAUNCH_TOGETHER(kernel_" in text


def test_a_word_that_cannot_be_replaced_is_refused() -> None:
    source = SOURCE.replace("(void)s;", 'printf("upstream");')
    with pytest.raises(UsageError, match="GPU MODE's boards"):
        gpumode_submission(operator("row_softmax", source=source), KNOWN)


def test_outputs_are_those_at_the_end_of_the_data_or_new() -> None:
    def compiled(x: np.ndarray, y: np.ndarray) -> None:
        y[:] = x.T

    with torch_with(compiled) as calls:
        space = run(gpumode_submission(operator("transpose"), KNOWN))
        kernel = space["custom_kernel"]
        x, y = held([[1, 2, 3], [4, 5, 6]]), held(np.zeros((3, 2)))
        assert kernel((x, y)) is y and y.tolist() == [[1, 4], [2, 5], [3, 6]]
        assert kernel(x).tolist() == y.tolist() and kernel([x]).tolist() == y.tolist()
        with pytest.raises(TypeError, match="1 input and then 1 output or none, not 3"):
            kernel((x, y, y))
    assert calls[0]["functions"] == ["transpose_into"] and "--offload-arch=gfx942" in calls[0]["extra_cuda_cflags"]


def test_a_dim_that_only_the_output_shows_is_read_there() -> None:
    text = gpumode_submission(operator(str(OWN / "histogram")), KNOWN)
    assert "const int64_t bins = counts.size(0);" in text
    with torch_with(lambda *_: None), pytest.raises(TypeError, match="no input shows their shape"):
        run(text)["custom_kernel"](held([1, 2]))


def test_it_launches_on_the_null_queue() -> None:
    text = gpumode_submission(operator("row_softmax", "h200"), KNOWN)
    assert "cudaLaunchKernel(f, grid, block, args, lds, 0)" in text and "getCurrent" not in text


def test_a_title_with_the_word_is_refused() -> None:
    task, gpu = load_task("row_softmax", "mi300x"), load_target("mi300x")
    submitted = TorchOperator(Launcher(prepare(task.seeds[0].read_text(encoding="utf-8"), task), gpu), gpu)
    object.__setattr__(submitted.launcher.task, "title", "Stream compaction")
    with pytest.raises(UsageError, match="title or names"):
        gpumode_submission(submitted, KNOWN)
