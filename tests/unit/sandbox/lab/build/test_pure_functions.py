"""Functions declared `const`, `pure` or `noalias`: found, freed of the promise, and held to it."""

from __future__ import annotations

import pytest

from sandbox.lab.build.lab_program import LabProgram
from sandbox.lab.build.pure_functions import promised_functions, without_promises
from tests.support.lab_bench import HEAD, build, launch

TEXT = """define internal float @get(ptr noundef %p) #0 !dbg !7 {
  ret float 0.0
}
define dso_local void @k(ptr %p) #1 !dbg !8 {
  %1 = call float @get(ptr noundef %p) #2, !dbg !9
  %2 = call i32 asm "movl $1, $0", "=r,*m,~{dirflag},~{fpsr},~{flags}"(ptr elementtype(i32) %at) #3, !srcloc !5
  ret void
}
declare float @expf(float noundef) #4
attributes #0 = { alwaysinline nounwind willreturn memory(none) "target-cpu"="x86-64-v3" }
attributes #1 = { nounwind }
attributes #2 = { nounwind willreturn memory(none) }
!7 = distinct !DISubprogram(name: "get", scope: !1, file: !1, line: 11, type: !8)
"""
KERNEL = """
extern "C" __global__ void k(const float* x, float* y) { y[threadIdx.x] = f(x, threadIdx.x); }
"""
KEPT = {
    "numbers": "__attribute__((const)) __device__ float f(const float*, int i) { return sqrtf(i) + expf(1.0f); }",
    "a number of the work-item": "__attribute__((const)) __device__ float f(const float*, int) { return blockIdx.x; }",
    "another lane": "__attribute__((const)) __device__ float f(const float*, int i) { return __shfl_xor(i, 1); }",
    "a table": "__constant__ const float t[2] = {1, 2};"
    "__attribute__((const)) __device__ float f(const float*, int i) { return t[i & 1]; }",
    "its own array": "__attribute__((const)) __device__ float f(const float*, int i)"
    " { float a[4]; for (int k = 0; k < 4; k++) a[k] = k * i; return a[i & 3]; }",
    "a pure read": "__attribute__((pure)) __device__ float f(const float* x, int i) { return x[i]; }",
    "a callee that reads": "__device__ float g(const float* x, int i) { return x[i]; }"
    "__attribute__((pure)) __device__ float f(const float* x, int i) { return g(x, i); }",
}
BROKEN = {
    "an argument": "__attribute__((const)) __device__ float f(const float* x, int i) { return x[i]; }",
    "inlined": "static __attribute__((const)) __forceinline__ __device__ float f(const float* x, int i)"
    " { return x[i]; }",
    "a callee": "__device__ float g(const float* x, int i) { return x[i]; }"
    "__attribute__((const)) __device__ float f(const float* x, int i) { return g(x, i); }",
    "a reference": "__device__ __attribute__((const)) float g(const float& x) { return x; }"
    "__device__ float f(const float* x, int i) { return g(x[i]); }",
    "a member": "struct F { float s; __attribute__((const)) __device__ float at() const { return s; } };"
    "__device__ float f(const float* x, int i) { F v{x[i]}; return v.at(); }",
    "LDS": "__shared__ float t[64]; __attribute__((const)) __device__ float f(const float*, int i) { return t[i]; }",
    "a variable": "__device__ float v = 1; __attribute__((const)) __device__ float f(const float*, int) { return v; }",
    "a barrier": "__attribute__((pure)) __device__ float f(const float*, int) { __syncthreads(); return 1; }",
    "an atomic": "__device__ int v; __attribute__((pure)) __device__ float f(const float*, int)"
    " { return atomicAdd(&v, 1); }",
    "volatile": "__attribute__((pure)) __device__ float f(const float* x, int i)"
    " { return ((const volatile float*)x)[i]; }",
}


def test_the_functions_are_found_with_their_lines_and_what_they_promise() -> None:
    (found,) = promised_functions(TEXT)
    assert (found.name, found.line, found.word) == ("get", 11, "const")
    assert promised_functions(TEXT.replace("memory(none)", "memory(read)"))[0].word == "pure"
    assert promised_functions(TEXT.replace("memory(none)", "memory(argmem: readwrite)"))[0].word == "noalias"
    assert promised_functions(TEXT.replace(" memory(none)", "")) == ()


def test_neither_function_nor_call_promises_anything_afterwards() -> None:
    made = without_promises(TEXT, promised_functions(TEXT))
    head = next(line for line in made.split("\n") if line.startswith("define") and "@get" in line)
    assert "internal" not in head and "#0" not in head
    group = next(line for line in made.split("\n") if line.startswith(f"attributes {head.split()[6]} "))
    assert "noinline" in group and "alwaysinline" not in group and "memory" not in group and "target-cpu" in group
    assert "@get(ptr noundef %p), !dbg !9" in made
    assert "call i32 @ks.number.i32()" in made and "@expf(float noundef) nounwind willreturn memory(none)" in made


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_a_promise_that_is_kept_is_accepted(text: str) -> None:
    assert isinstance(build(f"{HEAD}{text}{KERNEL}", [launch("k", ["x", "y"])]), LabProgram)


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_a_promise_that_is_not_kept_is_refused_with_its_line(text: str) -> None:
    (found,) = build(f"{HEAD}{text}{KERNEL}", [launch("k", ["x", "y"])])
    assert found.kind == "compile_error" and found.line == 2
    assert "is declared const" in found.message or "is declared pure" in found.message
