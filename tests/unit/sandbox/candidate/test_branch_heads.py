"""A head of the host alone beside one of the device becomes unreachable, and no line moves."""

from __future__ import annotations

import numpy as np
import pytest

from sandbox.candidate.branch_heads import with_unreachable_heads
from sandbox.candidate.parse import normalise
from tests.support.lab_bench import execute, launch

HOST, DEVICE = frozenset({"__host__", "HOST", "BOTH"}), frozenset({"__device__", "__global__", "BOTH"})
HEADS = "#ifdef A\n  explicit DEV f(float);\n  explicit HOST\n#else\n  explicit BOTH\n#endif\n  f(int x) {}\n"


def test_the_hosts_head_becomes_a_template_that_nothing_calls() -> None:
    text = with_unreachable_heads(HEADS, HOST, DEVICE)
    assert text == HEADS.replace("explicit HOST", "template <class Unreachable> explicit __device__")
    assert with_unreachable_heads(text, HOST, DEVICE) == text


@pytest.mark.parametrize(
    "text",
    [
        "#ifdef A\nHOST\n#else\n#endif\nvoid f() {}\n",  # no other head
        "#ifdef A\nHOST void f() {}\n#else\nBOTH void f() {}\n#endif\n",  # whole functions
        "#ifdef A\nHOST\n#else\n__host__\n#endif\nvoid f() {}\n",  # the host's in every branch
        "#ifdef A\nBOTH\n#else\n__device__\n#endif\nvoid f() {}\n",
        "HOST void f() {}\n",
    ],
)
def test_other_branches_stay(text: str) -> None:
    assert with_unreachable_heads(text, HOST, DEVICE) == text


SOURCE = """
#define HOST __host__
#define BOTH __host__ __device__
#ifdef __gfx942__
#define NATIVE
#endif
struct number {
  float held;
#ifdef NATIVE
  explicit __device__ number(float x) : held(2 * x) {}
  explicit HOST
#else
  explicit BOTH
#endif
  number(float x) { held = x; }
#ifdef NATIVE
  explicit inline __device__ operator float() const { return held; }
  explicit inline HOST operator float() const
#else
  explicit inline BOTH operator float() const
#endif
  { return -held; }
};
extern "C" __global__ void k(float* y) { y[0] = static_cast<float>(number(3.0f)); }
int main() { hipFree(0); }
"""


def test_a_class_of_both_sides_is_executed_as_the_device_has_it() -> None:
    execution = execute(normalise(SOURCE), [launch("k", ["y"], block=(1,))], {}, {"y": np.zeros(1, np.float32)})
    assert not execution.findings
    assert execution.outputs["y"].tolist() == [6.0]
