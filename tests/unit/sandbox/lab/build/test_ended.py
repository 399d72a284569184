"""What a variable holds after its end, where a pointer to it was handed on."""

from __future__ import annotations

from sandbox.amdgcn.ir import bodies
from sandbox.lab.build.ended import ended

TEXT = """define void @f(ptr %p) !dbg !3 {
entry:
  %kept = alloca %struct.Pair, align 8
  %given = alloca [4 x float], align 16
  %own = alloca i32, align 4
  %copied = alloca i64, align 8
  %many = alloca float, i64 %n, align 4
  call void @llvm.lifetime.start.p0(ptr %kept), !dbg !4
  call void @llvm.lifetime.start.p0(ptr %own), !dbg !4
  %member = getelementptr inbounds nuw %struct.Pair, ptr %kept, i32 0, i32 1, !dbg !4
  store ptr %member, ptr %p, align 8, !dbg !4
  %row = getelementptr inbounds [4 x float], ptr %given, i64 0, i64 2, !dbg !4
  %r = call noundef float @g(i32 noundef 1, ptr noundef nonnull align 4 dereferenceable(8) %row, ptr %many), !dbg !4
  store i32 1, ptr %own, align 4, !dbg !4
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %copied, ptr align 8 %p, i64 8, i1 false), !dbg !4
  call void @ks.copied(ptr %copied, i64 8, i64 0), !dbg !4
  call void @llvm.lifetime.end.p0(ptr %kept), !dbg !4
  call void @llvm.lifetime.end.p0(ptr %given) #12, !dbg !4
  call void @llvm.lifetime.end.p0(ptr %own), !dbg !4
  call void @llvm.lifetime.end.p0(ptr %copied), !dbg !4
  call void @llvm.lifetime.end.p0(ptr %many), !dbg !4
  call void @llvm.lifetime.end.p0(ptr %given)
  ret void
}
"""


def test_variables_whose_address_is_handed_on_are_overwritten_at_their_end_and_no_others() -> None:
    (body,) = bodies(TEXT)
    made = ended(body)
    assert sorted(made) == [6, 15, 16]  # not where no line of the source stands, nor what has no size of its own
    assert made[6] == []  # no beginning either, or the compiler takes what was before for nothing
    assert "ptr align 8 %kept, i8 %ks.unset.15" in made[15][1]
    assert "getelementptr (%struct.Pair, ptr null, i64 1)" in made[15][1]
    assert "ptr align 16 %given" in made[16][1] and made[16][1].endswith("!dbg !4")


def test_a_function_without_ends_is_left_as_it_is() -> None:
    (body,) = bodies(TEXT.replace("lifetime.end", "lifetime.other"))
    assert ended(body) == {}
