"""Remarks on a kernel file that need no compiler."""

from __future__ import annotations

import pytest

from agents.checks import check

PLAN = '/*+++\n[[launch]]\nkernel = "k"\ngrid = [1]\nblock = [64]\nargs = ["x", "y"]\n+++*/\n'
KERNEL = "__global__ void k(float* x, float* y) {\n  __syncthreads();\n  y[threadIdx.x] = x[0];\n}\n"
CALM = PLAN + KERNEL


def told(source: str, arch: str = "gfx942") -> list[tuple[str, str]]:
    return [(remark.kind, remark.about) for remark in check(source, arch)]


@pytest.mark.parametrize(
    "source",
    [
        CALM,
        CALM.replace('"k"', '"k<float>"').replace("__global__", "template <class T> __global__"),
        CALM.replace("__syncthreads();", "if (x[0] > 1) { __syncthreads(); }"),
        CALM.replace("__syncthreads();", "if (threadIdx.x < 3) y[1] = 2; __syncthreads();"),
        CALM.replace("__syncthreads();", "if (threadIdx.x < 3) { y[1] = 2; } __syncthreads();"),
        CALM.replace("__syncthreads();", "// int main() { hipMalloc(); }"),
        CALM.replace("__syncthreads();", "unsigned long long m = __ballot(1);"),
        CALM + "#if 0\n{\n#endif\n",
    ],
)
def test_nothing_is_remarked_where_nothing_is_certain(source: str) -> None:
    assert told(source) == []


@pytest.mark.parametrize(
    ("old", "new", "kind", "about"),
    [
        ("/*+++", "/*", "form", ""),
        ('kernel = "k"', 'kernel = "m"', "kernel", "m"),
        ('kernel = "k"', 'kernel = "ops::m<float, 4>"', "kernel", "m"),
        ('"x", "y"', '"x"', "arguments", "k"),
        ("x[0];", "x[0;", "brackets", "["),
        ("x[0];\n}", "x[0];\n", "brackets", "{"),
        ("__syncthreads();", "if (threadIdx.x < 3) __syncthreads();", "barrier", ""),
        ("__syncthreads();", "if (threadIdx.x < 3) { y[1] = 2; __syncthreads(); }", "barrier", ""),
        ("__syncthreads();", "if (threadIdx.x < 3)\n  __syncthreads();\n  y[1] = 2;", "barrier", ""),
        ("__syncthreads();", "int main() {}", "host_code", "int main("),
        ("__syncthreads();", "hipMalloc(&y, 4);", "host_code", "hipMalloc"),
    ],
)
def test_what_is_certain_to_be_wrong_is_remarked_once(old: str, new: str, kind: str, about: str) -> None:
    assert told(CALM.replace(old, new, 1)) == [(kind, about)]


def test_a_remark_names_its_line() -> None:
    source = CALM.replace("__syncthreads();", "if (threadIdx.x < 3) __syncthreads();")
    (remark,) = check(source, "gfx942")
    assert f"line {source.count(chr(10), 0, source.index('if (')) + 1}:" in remark.text


def test_a_ballot_of_32_bits_is_one_too_few_on_a_gpu_with_64_lanes_only() -> None:
    source = CALM.replace("__syncthreads();", "unsigned m = __ballot(1);")
    assert told(source) == [("ballot", "")] and told(source, "sm_90") == []


def test_of_several_launches_the_wrong_one_is_counted() -> None:
    (first,) = check(CALM.replace('kernel = "k"', 'kernel = "m"'), "gfx942")
    assert "launch 1" in first.text
    second = '[[launch]]\nkernel = "k"\ngrid = [1]\nblock = [64]\nargs = ["x"]\n'
    (remark,) = check(CALM.replace("+++*/", f"{second}+++*/"), "gfx942")
    assert "launch 2" in remark.text and "takes 2" in remark.text
