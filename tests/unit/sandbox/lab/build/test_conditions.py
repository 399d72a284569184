"""Comparisons of data, found in what the lab executes."""

from __future__ import annotations

import re

from sandbox.lab.build.conditions import FEW, DataCondition, numbers_in, with_marks
from sandbox.lab.lab import LabProgram
from tests.support.lab_bench import HEAD, build, launch, marked_line

SOURCE = """
__device__ float cut(float v) { return v < -12.5f ? 0.0f : v; } // cut
extern "C" __global__ void k(const float* x, float* y, int n) {
    const int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return; // length
    float top = -1e5f;
    for (int j = 0; j < n; ++j) top = fmaxf(top, x[j]); // top
    float v = fminf(cut(x[i]) - top, 20.0f); // bound
    if (x[0] == 3.0f && x[n - 1] == 7.0f) v *= 2.0f; // both
    if (n > 77 && threadIdx.x == 5) v += 1.0f; // shape
    if (__float_as_uint(x[i]) % 65536u == 4660u) v = 0.0f; // bits
    y[i] = v;
}
"""


def conditions() -> tuple[DataCondition, ...]:
    program = build(HEAD + SOURCE, [launch("k", ["x", "y", 64])])
    assert isinstance(program, LabProgram), program
    return tuple(program.conditions)


def test_what_rests_on_memory_has_a_mark_at_its_line_with_what_it_compares_with() -> None:
    by_line = dict[int, set[float]]()
    for each in conditions():
        by_line.setdefault(each.line, set()).update(numbers_in([each]))
    wanted = {"cut": {-12.5}, "top": {-1e5}, "bound": {20.0, -1e5}, "both": {3.0, 7.0}, "bits": {4660.0, 65535.0}}
    assert {marked_line(SOURCE, f"// {name}"): numbers for name, numbers in wanted.items()} == by_line


def test_numbers_are_those_of_the_places_asked_for_and_in_any_form_of_llvms_text() -> None:
    each = [
        DataCondition(3, 1, ("0xC028000000000000", "0", "true")),  # a double's bits
        DataCondition(4, 1, ("0xH4900",)),  # a half's
        DataCondition(5, 1, ("0xR4140",)),  # a bfloat's
        DataCondition(6, 1, ("-1.200000e+01", "0x7FF0000000000000", "undef")),
    ]
    assert numbers_in(each) == (-12.0, 10.0, 12.0, -12.0)
    assert numbers_in(each, []) == ()
    assert numbers_in(each, [each[1]]) == (10.0,)  # type: ignore[list-item]


def test_a_chain_of_values_is_followed_for_a_few_only() -> None:
    """Else a file of some thousand comparisons of one running value costs the judge half a minute."""
    rows = ["define void @f() #9100 !dbg !2 {", "entry:", "  %p0 = load float, ptr %x"]
    for i in range(400):
        rows.append(f"  %p{i + 1} = phi float [ %p{i}, %a{i} ], [ {i}.5, %b{i} ]")
        rows.append(f"  %c{i} = fcmp olt float %p{i + 1}, {i}.25, !dbg !4")
    rows += ["  ret void", "}", '!1 = !DIFile(filename: "candidate.hip", directory: ".")']
    rows += ['!2 = distinct !DISubprogram(name: "f", file: !1)', "!4 = !DILocation(line: 7, column: 9, scope: !2)", ""]
    _, found = with_marks("\n".join(rows))
    assert len(found) == 400 and max(len(each.constants) for each in found) <= FEW


def test_a_mark_stands_behind_its_comparison_and_nothing_else_changes() -> None:
    sealed = """define void @f(float %v, i32 %n) #9100 !dbg !2 {
entry:
  %a = fcmp olt float %v, 1.0, !dbg !4
  %b = icmp slt i32 %n, 4, !dbg !4
  %c = fcmp olt float %v, 2.0, !dbg !5
  %d = and i1 %a, %b, !dbg !4
  ret void
}
!1 = !DIFile(filename: "candidate.hip", directory: ".")
!2 = distinct !DISubprogram(name: "f", scope: !1, file: !1, line: 1)
!3 = distinct !DISubprogram(name: "header", scope: !6, file: !6, line: 1)
!4 = !DILocation(line: 7, column: 9, scope: !2)
!5 = !DILocation(line: 8, column: 9, scope: !3, inlinedAt: !4)
!6 = !DIFile(filename: "header.h", directory: ".")
"""
    marked, found = with_marks(sealed)
    first = DataCondition(7, 9, ("1.0",), how="olt", kind="float", fixed=(False, True))
    assert found == (first, DataCondition(7, 9))  # the second joins data with a length
    lines = marked.split("\n")
    assert lines[2] == sealed.split("\n")[2] and "zext i1 %a to i64" in lines[3] and "store i8 1" in lines[5]
    kept = [line for line in lines if not re.search(r"ks\.outcome|ks_outcomes", line)]
    assert "\n".join(kept) == sealed
    foreign = sealed.replace("candidate.hip", "other.hip")
    assert with_marks(foreign) == (foreign, ())
