"""Kernels without host code: what is offered for them, and the host half that is written."""

from __future__ import annotations

import pytest

from imports.bare_kernel import StatedLaunch, bare_kernels, host_half, parameter_text
from imports.declared_inputs import declared
from imports.seed_scalars import built_in, with_scalars
from records.errors import UsageError

KERNEL = """
__global__ void scale(const float* __restrict__ x, float *y, float a, int rows, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * cols) y[i] = a * x[i];
}
"""
ROWS = KERNEL.replace("blockIdx.x * blockDim.x + threadIdx.x", "blockIdx.x")
PLANE = KERNEL.replace("* cols)", "* cols && threadIdx.y < 4)")


@pytest.mark.parametrize(
    ("text", "grid", "block"),
    [
        (KERNEL, ("ceil_div(rows * cols, 256)",), ("256",)),
        (ROWS, ("rows",), ("256",)),
        (PLANE, ("ceil_div(cols, 16)", "ceil_div(rows, 16)"), ("16", "16")),
    ],
)
def test_a_launch_is_offered_as_the_kernel_counts_its_elements(
    text: str, grid: tuple[str, ...], block: tuple[str, ...]
) -> None:
    kernel = bare_kernels(text)[0]
    assert (kernel.grid(), kernel.block()) == (grid, block)


def test_parameters_are_read_and_a_host_half_copies_what_is_constant() -> None:
    kernel = bare_kernels(KERNEL)[0]
    assert (kernel.sizes, kernel.reals) == (["rows", "cols"], ["a"])
    assert [(p.name, p.dtype, p.is_constant) for p in kernel.pointers] == [("x", "f32", True), ("y", "f32", False)]
    assert parameter_text(kernel) == "const float* x, float* y, float a, int rows, int cols"
    inputs = declared(["x=f32[rows,cols]", "y=f32[rows,cols]", "a=0.5"], ["rows=8,cols=4"])
    text = host_half(kernel, inputs, StatedLaunch(kernel.grid(), kernel.block()), ["x"])
    assert "scale<<<dim3((((rows * cols) + 256 - 1) / 256)), dim3(256), 0>>>(x, y, a, rows, cols);" in text
    assert "hipMemcpy(x, h_x" in text and "hipMemcpy(h_y, y" in text and "hipMemcpy(y, h_y" not in text
    with pytest.raises(UsageError, match="is no size"):
        host_half(kernel, inputs, StatedLaunch(["rows and 1"], ["256"]), ["x"])


def test_a_file_that_launches_has_no_bare_kernel() -> None:
    assert not bare_kernels(KERNEL + "void go() { scale<<<1, 1>>>(0, 0, 0, 1, 1); }")
    assert bare_kernels(KERNEL + "// scale<<<1, 1>>>()")


def test_numbers_of_a_launch_are_named_or_told() -> None:
    launch = 'kernel = "scale"\ngrid = [1]\nblock = [1]\nargs = ["x", "y", 0.5, "r", "c"]'
    plan = f"/*+++\n[[launch]]\n{launch}\n+++*/\n"
    assert built_in(plan + KERNEL) == "a = 0.5"
    named = with_scalars(plan + KERNEL, {"a": 0.5, "b": 2.0})
    assert 'args = ["x", "y", "a", "r", "c"]' in named and built_in(named) == ""
    assert with_scalars(plan + KERNEL, {"a": 0.5, "b": 0.5}) == plan + KERNEL
