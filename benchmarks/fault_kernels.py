"""Kernels that break in one known way each, for a task that multiplies a vector by a number; and a right one.

Every text is its own: a number in it makes it so, so that no verdict comes from an earlier one.
"""

from __future__ import annotations

from dataclasses import dataclass

_PLAN = """/*+++
{workspaces}[[launch]]
kernel = "scale"
grid = ["ceil_div(n, 256)"]
block = ["{block}"]
args = ["x", "y", "n", "factor"{more}]
+++*/
#include <hip/hip_runtime.h>

{before}
__device__ int candidate() {{ return {number}; }}

extern "C" __global__ {bounds} void scale(const float* x, float* y, int n, float factor{parameters}) {{
    const int i = blockIdx.x * 256 + threadIdx.x;
    {first}
    if (i < n) y[i] = factor * x[i];
    {last}
}}
"""
_BOUNDS = "__launch_bounds__(256)"
_GIANT = "[workspace]\n" + "".join(f'w{i} = ["u8", "{8 << 30}"]\n' for i in range(24)) + "\n"  # 192 GiB
_DEEP = """__device__ __attribute__((noinline)) float dive(float v, int depth) {
    volatile float kept[64];
    for (int i = 0; i < 64; ++i) kept[i] = v + i;
    return depth > 1000000 ? kept[depth % 64] : dive(kept[depth % 64] * 1.5f, depth + 1) + kept[(depth + 1) % 64];
}"""
_ASSERT = """#ifndef __CUDACC_RTC__
extern "C" __device__ void __assertfail(const char*, const char*, unsigned, const char*, size_t);
#endif"""
_HUNGRY = """float kept[160];
#pragma unroll
    for (int k = 0; k < 160; ++k) kept[k] = x[(i + k) % n];
    for (int r = 0; r < n % 3; ++r)
#pragma unroll
        for (int k = 0; k < 160; ++k) kept[k] = kept[(k * 7 + 1) % 160] * factor + kept[k];
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < 160; ++k) sum = sum * kept[k] + kept[159 - k];
    if (sum == 12345.678f && i < n) y[i] = sum;"""  # more values at once than 64 registers hold


@dataclass(frozen=True)
class Fault:
    """One way to break, and the kinds of findings that blame it rightly."""

    name: str
    kinds: frozenset[str]
    first: str = ""
    last: str = ""
    before: str = ""
    block: str = "256"
    bounds: str = _BOUNDS
    workspaces: str = ""
    more: str = ""
    parameters: str = ""

    def source(self, number: int) -> str:
        """Return its text; `number` makes it another one."""
        return _PLAN.format(
            number=number,
            first=self.first,
            last=self.last,
            before=self.before,
            block=self.block,
            bounds=self.bounds,
            workspaces=self.workspaces,
            more=self.more,
            parameters=self.parameters,
        )


def _fault(name: str, *kinds: str, **parts: str) -> Fault:
    return Fault(name, frozenset(kinds), **parts)


RIGHT = _fault("right")
FAULTS = (
    # a loop on a local variable would be taken out, volatile or not
    _fault("endless loop", "timeout", first="while (*(const volatile int*)x != 0x7fffffff) {}"),
    _fault(
        "one endless block", "timeout", first="if (blockIdx.x == 0) while (*(const volatile int*)x != 0x7fffffff) {}"
    ),
    _fault("illegal read", "out_of_bounds", last="if (i < n) y[i] = x[i + (1l << 41)];"),
    _fault("illegal write", "out_of_bounds", last="if (i < n) y[i + (1l << 41)] = factor;"),
    _fault("write behind its buffer", "out_of_bounds", last="if (i == 0) y[n + 1024] = factor;"),
    _fault("misaligned", "misaligned", last="if (i == 0) *(volatile double*)((char*)y + 4) = 1.0;"),
    # the driver gives a trap one of two statuses; the second is also that of accesses outside of shared memory
    _fault("trap", "wrong_result", "out_of_bounds", last="if (i == 0) __trap();"),
    _fault(
        "device assert",
        "wrong_result",
        before=_ASSERT,
        last='if (i == 0) __assertfail("never", "scale", 1, "scale", 1);',
    ),
    # a stack that grows past its end meets unmapped memory
    _fault(
        "stack overflow",
        "stack_overflow",
        "out_of_bounds",
        before=_DEEP,
        last="if (i < n) y[i] = dive(y[i], n & 1) * factor;",
    ),
    _fault(
        "out of memory",
        "compile_error",
        workspaces=_GIANT,
        more="".join(f', "w{i}"' for i in range(24)),
        parameters="".join(f", unsigned char* w{i}" for i in range(24)),
        last="if (i < 24) w0[i] = 1;",
    ),
    _fault("block beyond the limit", "over_limit", block="2048", bounds=""),
    _fault("registers beyond the limit", "over_limit", block="1024", bounds="", last=_HUNGRY),
    _fault(
        "barrier deadlock",
        "timeout",
        before="",
        first="""__shared__ volatile int go;
    if (threadIdx.x == 0) go = 0;
    __syncthreads();
    if (threadIdx.x < 128) { __syncthreads(); go = 1; } else { while (!go) {} }
    __syncthreads();""",
    ),
    _fault("null pointer", "out_of_bounds", last="if (i == 0) *(volatile float*)(unsigned long)(n * 0l) = 1.0f;"),
)
