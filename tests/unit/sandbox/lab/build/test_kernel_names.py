"""The names of kernels as a plan writes them, and as the compiler reads them."""

from __future__ import annotations

import numpy as np

from sandbox.candidate.plan import Launch
from sandbox.lab.build.kernel_names import expanded, with_names
from tests.support.lab_bench import execute, launch

SOURCE = """#define WIDTH 4
#define KIND float
template <class T, int N> __global__ void filled(T* y) { y[threadIdx.x] = N; }
"""


def launch_of(kernel: str) -> Launch:
    return Launch(kernel, ("1",), ("1",), "0", ("y",), 1)


def test_only_names_with_a_macro_of_the_file_are_expanded() -> None:
    launches = [launch_of("filled<float, 3>"), launch_of("filled<KIND, WIDTH>"), launch_of("plain")]
    assert with_names(SOURCE, launches[:1]) == ""
    text = with_names(SOURCE, launches)
    assert text.startswith(SOURCE) and text.count("ks_name_of_kernel_") == 1
    made = expanded(launches, "whatever\nks_name_of_kernel_1 filled<float, 4>\n")
    assert [each.kernel for each in made] == ["filled<float, 3>", "filled<float, 4>", "plain"]


def test_a_plan_may_name_template_arguments_by_the_files_macros() -> None:
    outputs = {"y": np.zeros(64, np.float32)}
    done = execute(SOURCE, [launch("filled<KIND, (WIDTH + 1)>", ["y"])], {}, outputs)
    assert done.findings == () and set(done.outputs["y"].tolist()) == {5.0}
