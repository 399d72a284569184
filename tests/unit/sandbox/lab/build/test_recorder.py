"""The calls of the runtime's that record what a comparison compared."""

from __future__ import annotations

from sandbox.amdgcn.ir import bodies
from sandbox.lab.build.conditions import with_marks
from sandbox.lab.build.recorder import SITES, Sites, can_record

MODULE = """define void @f(ptr %x, i1 %way) #9100 !dbg !2 {
entry:
  %ks.1 = call ptr @ks.load4(ptr %x), !dbg !4
  %a = load float, ptr %ks.1, align 4, !dbg !4
  br i1 %way, label %one, label %other
one:
  %ks.2 = call ptr @ks.load16(ptr %x), !dbg !4
  %v = load <4 x float>, ptr %ks.2, align 16, !dbg !4
  %b = extractelement <4 x float> %v, i64 2
  br label %other
other:
  %c = phi float [ %b, %one ], [ 1.0, %entry ]
  %d = fmul float %c, %c
  %less = fcmp olt float %a, %d, !dbg !4
  %wide = icmp eq i128 0, 1, !dbg !4
  ret void
}
!1 = !DIFile(filename: "candidate.hip", directory: ".")
!2 = distinct !DISubprogram(name: "f", file: !1)
!4 = !DILocation(line: 7, column: 9, scope: !2)
"""


def test_a_comparison_follows_from_loads_through_merges() -> None:
    (body,) = bodies(MODULE)
    sites = Sites()
    assert sites.of(body, ("%a", "%d")) == [0, 1] and sites.of(body, ("%d", "1.0")) == [1]
    made = dict[int, str]()
    sites.close(body, made)
    calls = [line.split("@ks_loaded")[1] for text in made.values() for line in text.split("\n") if "@ks_loaded" in line]
    assert calls == ["(i32 0, i64 %ks.site.0, i32 4)", "(i32 1, i64 %ks.site.1, i32 16)"]
    sites.begin()
    assert sites.of(body, ("%a", "1.0")) == [2]  # another function's numbers go on


def test_a_recording_module_hands_over_both_sides_and_its_loads() -> None:
    plain, conditions = with_marks(MODULE)
    made, same = with_marks(MODULE, is_recorded=True)
    assert conditions == same and "ks_compared" not in plain
    (one,) = conditions
    assert (one.how, one.kind, one.fixed) == ("olt", "float", (False, False))
    assert "@ks.sites.0 = private constant [2 x i32] [i32 0, i32 1]" in made
    assert (
        "call void @ks_compared(i32 0, i32 %ks.truth.0, i64 %ks.side.0.0, i64 %ks.side.0.1, ptr @ks.sites.0, i32 2)"
        in made
    )


def test_few_loads_are_followed_and_no_wide_values() -> None:
    rows = ["define void @f(ptr %x) !dbg !2 {", "entry:", "  %s0 = load i32, ptr %x"]
    for i in range(100):
        rows += [f"  %l{i} = load i32, ptr %x", f"  %s{i + 1} = add i32 %s{i}, %l{i}"]
    (body,) = bodies("\n".join([*rows, "  ret void", "}", ""]))
    assert len(Sites().of(body, ("%s100", "7"))) == SITES
    assert can_record("i64") and can_record("half") and not can_record("i128") and not can_record("i1")
