"""What is added to the front end's code, seen in the findings' sentences and in the text itself."""

from __future__ import annotations

import numpy as np
import pytest

from sandbox.amdgcn.ballots import Ballots, returning_ballots
from sandbox.amdgcn.ir import bodies
from sandbox.lab.build.probes import RUNTIME, add_probes
from tests.support.lab_bench import execute, floats, launch, marked_line

COPY = """define void @f(ptr %to) !dbg !3 {
entry:
  %v = alloca %struct.V, align 16
  %p = load ptr, ptr %to.addr, align 8, !dbg !4
  call void @llvm.memcpy.p0.p0.i64(ptr align 16 %v, ptr align 16 %p, i64 16, i1 false), !dbg !5
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %p, ptr align 1 %q, i64 16, i1 false), !dbg !6
  call void @llvm.memset.p0.i64(ptr align 4 %p, i8 0, i64 16, i1 false), !dbg !7
  ret void
}
"""
BALLOT = """define i64 @vote() {
  %1 = call i64 @ks_wave(i32 noundef 6, i64 1, i64 0)
  ret i64 %1
}
define void @f() !dbg !1 {
  %b = alloca i64, align 8
  %1 = call noundef i64 @vote(), !dbg !2
  store i64 %1, ptr %b, align 8, !dbg !2
  %2 = load i64, ptr %b, align 8, !dbg !3
  %3 = trunc i64 %2 to i32, !dbg !3
  %4 = load i64, ptr %b, align 8, !dbg !4
  %5 = USE, !dbg !4
  ret void
}
"""

PROMISE = """define void @f(i32 %n) #0 !dbg !1 {
  %c = icmp sgt i32 %n, 0, !dbg !2
  call void @llvm.assume(i1 %c), !dbg !3
  call void @llvm.assume(i1 true) [ "align"(ptr %p, i64 16) ], !dbg !3
  br i1 %c, label %yes, label %no, !dbg !4

yes:
  ret void, !dbg !5

no:
  unreachable, !dbg !6
}

attributes #0 = { KIND }
"""


def probes(text: str) -> list[str]:
    made = add_probes(text)
    assert made.endswith(RUNTIME)
    return [line.strip() for line in made.removesuffix(RUNTIME).split("\n") if "@ks." in line]


def test_pointers_of_whole_copies_are_checked_unless_they_are_of_variables() -> None:
    assert probes(COPY) == [
        "call void @ks.copied(ptr %p, i64 16, i64 0), !dbg !5",
        "call void @ks.copied(ptr %p, i64 8, i64 1), !dbg !6",
        "call void @ks.copied(ptr %p, i64 4, i64 1), !dbg !7",
    ]


def test_a_text_without_any_of_it_stays_as_it_is() -> None:
    plain = "define void @f() {\n  ret void\n}\n\n!0 = !{}\n"
    assert add_probes(plain) == plain + RUNTIME


@pytest.mark.parametrize(
    ("use", "meant"),
    [
        ("lshr i64 %4, 32", True),
        ("and i64 %4, 4294967295", True),
        ("call i32 @f(i64 %4)", True),
        ("call noundef i32 @_ZL8__popcllm(i64 noundef %4)", False),
        ("icmp eq i64 %4, 0", False),
        ("trunc i64 %4 to i32", False),
        ("and i64 %4, %mask", False),
        ("xor i64 %4, -1", False),
    ],
)
def test_a_cut_is_meant_where_the_upper_half_is_taken_or_goes_out_of_sight(use: str, meant: bool) -> None:
    text = BALLOT.replace("USE", use)
    assert returning_ballots(text) == {"vote"}
    found = Ballots(list(bodies(text))[1], frozenset({"vote"}))
    assert (found.cuts() == []) is meant
    assert meant or found.cuts()[0][1] == "%2"


SENTENCES = {
    "index": (
        "out_of_bounds",
        "index -2 of an array of 4 elements in private memory",
        "int a[4] = {1, 2, 3, 4}; int i = threadIdx.x;\n    y[i] = a[i < 3 ? i : -2]; // here",
    ),
    "pointer": (
        "out_of_bounds",
        "leaves the array in private memory that its pointer belongs to",
        "float a[4] = {}; float* p = a;\n    p[threadIdx.x % 8] = 1; // here\n    y[threadIdx.x] = a[(int)x[0]];",
    ),
    "vector": (
        "out_of_bounds",
        "index 4 of a vector that has no such element",
        "typedef float v4 __attribute__((ext_vector_type(4))); v4 v = *(const v4*)x;\n"
        "    y[threadIdx.x] = v[threadIdx.x % 5]; // here",
    ),
    "LDS": (
        "out_of_bounds",
        "index 97 of an array of 64 elements in LDS, which reaches into another variable",
        "__shared__ float a[64], b[64]; a[threadIdx.x] = b[threadIdx.x] = 1; __syncthreads();\n"
        "    y[threadIdx.x] = a[threadIdx.x + 97]; // here",
    ),
    "copy": (
        "misaligned",
        "not a multiple of 16 bytes, the type's alignment, which the compiler relies on",
        "const float* p = x + 4 * threadIdx.x + 3;\n    float4 v = *(const float4*)p; // here\n"
        "    y[threadIdx.x] = v.x;",
    ),
}


@pytest.mark.parametrize("name", SENTENCES)
def test_the_sentence_says_what_and_where(name: str) -> None:
    kind, part, body = SENTENCES[name]
    source = f"\n__global__ void k(const float* x, float* y) {{\n    {body}\n}}"
    done = execute(source, [launch("k", ["x", "y"])], {"x": floats(512)}, {"y": np.zeros(512, np.float32)})
    assert [(f.kind, f.line) for f in done.findings] == [(kind, marked_line(source))]
    assert part in done.findings[0].message


def test_honest_uses_of_private_arrays_have_no_finding() -> None:
    source = """
struct Tile { float v[2][4]; __device__ float& at(int i) { return v[0][i]; } };
__device__ float last(const float (&row)[4]) { const float* end = &row[4]; return end[-1]; }
__device__ float sum(const float* from, int n) { float s = 0; while (n--) s += *from++; return s; }
__global__ void k(const float* x, float* y) {
    extern __shared__ float dynamic[];
    __shared__ float tile[4][4];
    int i = threadIdx.x;
    Tile t = {};
    for (int j = 0; j < 8; ++j) t.at(j) = x[j];
    float4 v[2] = {make_float4(1, 2, 3, 4), make_float4(5, 6, 7, 8)};
    const float* flat = reinterpret_cast<const float*>(v);
    dynamic[i] = flat[i % 8];
    if (i < 16) tile[0][i] = x[i];
    __syncthreads();
    y[i] = last(t.v[i % 2]) + sum(&t.v[0][0], 8) + dynamic[63 - i] + tile[0][15 - i % 16] + v[i % 2].y;
}"""
    done = execute(source, [launch("k", ["x", "y"], lds=256)], {"x": floats(64)}, {"y": np.zeros(64, np.float32)})
    assert done.findings == ()


@pytest.mark.parametrize(("kind", "ends"), [("nounwind", 1), ("mustprogress noreturn nounwind", 2)])
def test_promises_are_tried(kind: str, ends: int) -> None:
    made = add_probes(PROMISE.replace("KIND", kind)).removesuffix(RUNTIME).split("\n")
    at = made.index("  call void @llvm.assume(i1 %c), !dbg !3")
    assert made[at - 1] == "  call void @ks.promised(i1 %c), !dbg !3"
    assert sum("@ks.promised" in line for line in made) == 1
    assert made[made.index("  unreachable, !dbg !6") - 1] == "  call void @ks.broken(), !dbg !6"
    assert sum("@ks.broken" in line for line in made) == ends
    assert (made[made.index("  ret void, !dbg !5") - 1] == "  call void @ks.broken(), !dbg !5") == (ends == 2)
