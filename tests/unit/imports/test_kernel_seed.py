from __future__ import annotations

from imports.hosts.found_plan import found_plan
from imports.kernel_request import Matched
from imports.kernel_seed import seeds_of

MANIFEST = """
name = "double"
title = "Twice the input"
description = "y = 2 * x."
targets = ["mi300x"]

[work]
bytes = "8 * n"
flops = "n"
peak = "fp32_vector"

[tolerance]
ratio = 4.0

[[input]]
name = "x"
dtype = "f32"
shape = ["n"]

[[output]]
name = "y"
dtype = "f32"
shape = ["n"]

[[test]]
n = 100

[[benchmark]]
n = 4096
"""
KERNELS = """
__global__ void first(const float* x, float* t, int n) { }
__global__ void second(const float* t, float* y, int n) { }
"""
HOST = """
int main() {
    int n = 4096;
    float *x, *t, *y, *h = (float*)malloc(n * sizeof(float));
    hipMalloc(&x, n * sizeof(float)); hipMalloc(&t, n * sizeof(float)); hipMalloc(&y, n * sizeof(float));
    hipMemcpy(x, h, n * sizeof(float), hipMemcpyHostToDevice);
    for (int k = 0; k < 10; ++k) {
        first<<<(n + 63) / 64, 64>>>(x, t, n);
        second<<<(n + 63) / 64, 64>>>(t, y, n);
    }
    hipMemcpy(h, y, n * sizeof(float), hipMemcpyDeviceToHost);
}
"""


def test_a_loop_that_repeats_launches_is_tried_once_first() -> None:
    text = KERNELS + HOST
    plan = found_plan(text)
    once, repeated = seeds_of(plan, Matched((), plan.inputs, {}, ()), MANIFEST, {}, text)
    assert once.count("[[launch]]") == 2 and "for = " not in once.split("+++*/")[0]
    assert "for = " in repeated.split("+++*/")[0]
