from __future__ import annotations

import re

import pytest

from records.evaluation import Finding
from sandbox.lab.build.sealed_calls import seal

SECRET = "5ec4e7"
HEAD = """target triple = "x86_64-unknown-linux-musl"
%struct.Pair = type { float, i64 }
@table = constant [4 x float] zeroinitializer, align 16
@ks_ids = external thread_local(localexec) global [18 x i32], align 16
@1 = private unnamed_addr global { { ptr, i32, i32 }, ptr, i8, i8 } zeroinitializer, no_sanitize_address
declare void @__asan_load4_noabort(i64)
declare void @__asan_store4_noabort(i64)
declare void @__ubsan_handle_type_mismatch_v1(ptr, i64) local_unnamed_addr #4
declare ptr @ks_atomic(ptr noundef, i64 noundef) local_unnamed_addr #6
declare i64 @system(ptr)
"""
TAIL = """
define internal float @other(float %a, i32 %b) #0 {
  ret float %a
}
attributes #0 = { nounwind naked }
!5 = !DILocation(line: 17, column: 3, scope: !6)
!6 = distinct !DISubprogram(name: "k", scope: !7, file: !7, line: 3)
!7 = !DIFile(filename: "candidate.hip", directory: ".")
"""


def module(body: str, head: str = "", name: str = "k", tail: str = "") -> str:
    opened = f"define dso_local void @{name}(ptr %p, ptr %q, i32 %n) #0 {{\nentry:"
    return f"{HEAD}{head}\n{opened}\n{body}\n  ret void\n}}\n{TAIL}{tail}"


def sealed(body: str, head: str = "") -> str:
    made = seal(module(body, head), SECRET)
    assert isinstance(made, str), made
    return made[made.index("@k(") :]


def refused(text: str) -> Finding:
    made = seal(text, SECRET)
    assert isinstance(made, Finding), made
    return made


def test_an_access_uses_the_pointer_that_its_check_gave_back() -> None:
    made = sealed(
        "  %1 = ptrtoint ptr %p to i64\n  call void @__asan_load4_noabort(i64 %1), !dbg !5\n"
        "  %2 = load float, ptr %p, align 4"
    )
    found = re.search(r"(%\S+) = call ptr @ks\.load4\(ptr %p\), !dbg !5\n  %2 = load float, ptr (%\S+), align 4", made)
    assert found and found[1] == found[2] and "__asan_load4" not in made


@pytest.mark.parametrize(
    ("line", "check"),
    [
        ("  %1 = load float, ptr %p, align 4", "@ks.load4(ptr %p)"),
        ("  store volatile i64 7, ptr %p, align 8", "@ks.store8(ptr %p)"),
        ("  store ptr %p, ptr %q, align 8", "@ks.store8(ptr %q)"),
        ("  %1 = load <3 x float>, ptr %p, align 4", "@ks.loadN(ptr %p, i64 12)"),
        ("  store %struct.Pair zeroinitializer, ptr %p, align 8", "@ks.store16(ptr %p)"),
        ("  %1 = load i64, ptr %p, align 4", "@ks.loadN(ptr %p, i64 8)"),
        ("  %1 = atomicrmw xchg ptr %p, i32 1 seq_cst, align 4\n  %2 = add i32 %1, 1", "@ks_atomic(ptr %p, i64 4)"),
        (
            "  %1 = atomicrmw xchg ptr %p, i32 1 seq_cst, align 4\n  %12 = add i32 0, 1",
            "@ks_touch(ptr %p, i64 4, i32 1)",
        ),
        ("  store i8 0, ptr inttoptr (i64 4096 to ptr), align 1", "@ks.store1(ptr inttoptr (i64 4096 to ptr))"),
        ("  %1 = atomicrmw add ptr %p, i32 1 monotonic, align 4", "@ks_atomic(ptr %p, i64 4)"),
        ("  %1 = cmpxchg weak ptr %p, i64 0, i64 1 seq_cst seq_cst, align 8", "@ks_atomic(ptr %p, i64 8)"),
        ("  %1 = load atomic i32, ptr %p monotonic, align 4", "@ks_touch(ptr %p, i64 4, i32 0)"),
        ('  store atomic i32 1, ptr %p syncscope("singlethread") release, align 4', "@ks_touch(ptr %p, i64 4, i32 1)"),
    ],
)
def test_an_access_without_a_check_gets_one(line: str, check: str) -> None:
    made = sealed(line)
    name = re.search(rf"(%ks\.\d+) = call ptr {re.escape(check)}\n", made)
    assert name and made.count(f"ptr {name[1]}") == 1
    assert not re.search(
        r"(?:load|store|atomicrmw add|cmpxchg weak) [^\n]*ptr %p[ ,][^\n]*align", made.replace("store ptr %p,", "")
    )


def test_a_constant_place_in_an_own_variable_needs_no_check_and_any_other_does() -> None:
    made = sealed(
        "  %v = alloca [4 x float], align 16\n"
        "  %a = getelementptr inbounds nuw i8, ptr %v, i64 12\n  store float 1.0, ptr %a, align 4\n"
        "  %b = getelementptr inbounds [4 x float], ptr %v, i64 0, i64 4\n  store float 2.0, ptr %b, align 4\n"
        "  %c = getelementptr float, ptr %v, i32 %n\n  store float 3.0, ptr %c, align 4"
    )
    assert "store float 1.0, ptr %a," in made and "store float 2.0, ptr %ks" in made
    assert "@ks.private(ptr %b, i64 4)" in made and "@ks.store4(ptr %c)" in made


def test_an_access_wider_than_its_check_gets_another() -> None:
    made = sealed(
        "  %1 = ptrtoint ptr %p to i64\n  call void @__asan_store4_noabort(i64 %1)\n  store i64 1, ptr %p, align 8"
    )
    assert "@ks.store8(ptr %p)" in made


def test_every_function_gets_the_same_attributes_and_stacks_apart() -> None:
    made = seal(module("  %1 = fadd float 1.0, 2.0"), SECRET)
    assert isinstance(made, str) and "naked" not in made
    heads = [line for line in made.split("\n") if line.startswith("define ")]
    assert len(heads) == 2 and all("#9100 {" in line for line in heads)
    assert re.search(r"attributes #9100 = \{.*safestack.*\"no-jump-tables\"=\"true\"", made)


def test_what_a_check_says_of_its_place_is_constant() -> None:
    assert "@1 = private unnamed_addr constant { {" in str(seal(module("  fence seq_cst"), SECRET))


IDS = "call align 16 ptr @llvm.threadlocal.address.p0(ptr align 16 @ks_ids)"
READ = 'call i32 asm "movl $1, $0", "=r,*m,~{dirflag},~{fpsr},~{flags}"(ptr nonnull elementtype(i32) %at) #12, !dbg !5'
TWO_WAYS = f"""  %a = {IDS}
  %c = icmp eq i32 %n, 0
  br i1 %c, label %left, label %right
left:
  br label %right
right:
  %ids.pre-phi = phi ptr [ %a, %entry ], [ BESIDE, %left ]
  %at = getelementptr i8, ptr %ids.pre-phi, i64 4
  %x = {READ}"""


def test_a_number_of_the_work_item_may_be_read_where_several_ways_lead() -> None:
    """As optimisers write it behind nested loops: the address is one value on every way."""
    other = f"left:\n  %b = {IDS}\n"
    assert "= call i32 asm" in sealed(TWO_WAYS.replace("left:\n", other, 1).replace("BESIDE", "%b"))
    assert "= call i32 asm" in sealed(TWO_WAYS.replace("BESIDE", "%ids.pre-phi"))
    for beside in ("%p", "%far", "%round"):
        far = "left:\n  %far = getelementptr i8, ptr %a, i64 8\n  %round = getelementptr i8, ptr %ids.pre-phi, i64 8\n"
        made = refused(module(TWO_WAYS.replace("left:\n", far, 1).replace("BESIDE", beside)))
        assert "inline assembly" in made.message, beside


def test_a_call_through_a_pointer_is_compared_with_the_functions_of_its_types() -> None:
    made = sealed("  %1 = call float %p(float 1.0, i32 2)")
    name = re.search(r"(%ks\.\d+) = call ptr @ks\.callee\(ptr %p, ptr (@ks\.callees\.0)\)", made)
    assert name and f"call float {name[1]}(" in made
    assert re.search(r'@ks\.callees\.0 = private unnamed_addr constant \[2 x ptr\] \[ptr @"other", ptr null\]', made)


def test_the_bridges_alone_know_the_names_that_end_a_work_item() -> None:
    text = module(f"  %1 = call ptr @ks_next_{SECRET}()", f"declare ptr @ks_next_{SECRET}()", "ks_launch_0")
    assert "call ptr @ks_next() #9101" in str(seal(text, SECRET))
    assert refused(text.replace(SECRET, "000000")).code in ("A.1", "B.2") if SECRET not in text else True
    assert "belongs to the lab" in refused(module("  %1 = call ptr @ks_next()")).message
    assert "belongs to the lab" in refused(module(f"  %1 = call ptr @ks_next_{SECRET}()")).message


@pytest.mark.parametrize(
    "body",
    [
        "  call void inttoptr (i64 4096 to ptr)(ptr %p)",
        "  %1 = call float @other(double 1.0, i32 2)",
        "  %1 = call float @other(float 1.0, i32 2, ptr byval([64 x i64]) %p)",
        "  musttail call void @k(ptr %p, ptr %q, i32 %n)",
        '  call void asm sideeffect "syscall", "~{memory}"()',
        '  %1 = call i64 asm "movq $1, $0", "=r,*m,~{dirflag},~{fpsr},~{flags}"(ptr elementtype(i64) %p)',
        '  %1 = call i32 asm sideeffect "mov $1, $0", "=r,*m,~{memory},~{dirflag},~{fpsr},~{flags}"'
        "(ptr elementtype(i32) %p)",
        "  %1 = alloca i8, i64 %m, align 1",
        "  %1 = alloca inalloca i8, align 1",
        "  %1 = alloca [1048577 x i8], align 1",
        "  indirectbr ptr %p, [label %entry]",
        "  %1 = ptrtoint ptr blockaddress(@k, %entry) to i64",
        "  %1 = addrspacecast ptr %p to ptr addrspace(256)",
        "  %1 = load i32, ptr addrspace(256) null, align 4",
        "  store i32 1, ptr addrspace(257) %p, align 4",
        "  %1 = va_arg ptr %p, i32",
        "  call void @llvm.va_start.p0(ptr %p)",
        "  %1 = call ptr @llvm.returnaddress(i32 0)",
        "  %1 = call ptr @llvm.stacksave.p0()",
        "  call void @llvm.write_register.i64(metadata !5, i64 0)",
        "  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 8, i1 false)",
        "  call void @llvm.masked.store.v4i32.p0(<4 x i32> zeroinitializer, ptr %p, <4 x i1> zeroinitializer)",
        "  %1 = call i32 @llvm.eh.sjlj.setjmp(ptr %p)",
        "  %1 = call ptr @memcpy(ptr %p, ptr %q, i64 8)",
        "  call void @__asan_load4_noabort(i64 %m)",
        "  call void @__ubsan_handle_type_mismatch_v1(ptr %p, i64 0)",
        "  call void @ks.store4(ptr %p)",
        "  call void @ks_matrix(i32 1, i32 2, ptr %p)",
        "  %1 = call float @expf(ptr %p)",
        "  invoke void @k(ptr %p, ptr %q, i32 %n) to label %entry unwind label %entry",
        "  not an instruction",
    ],
)  # fmt: skip
def test_anything_else_is_refused(body: str) -> None:
    assert refused(module(f"{body}")).kind == "compile_error"


@pytest.mark.parametrize(
    "head",
    [
        'module asm ".globl system"',
        "@a = alias void (ptr, ptr, i32), ptr @k",
        "@a = ifunc void (), ptr @k",
        '@a = global i32 0, section ".init_array", align 4',
        "@a = addrspace(3) global i32 0, align 4",
        "@a = extern_weak global i32",
        "@memcpy = global i32 0, align 4",
        "@__safestack_unsafe_stack_ptr = external thread_local(initialexec) global ptr",
        "define ptr @memcpy(ptr %a, ptr %b, i64 %c) {\n  ret ptr %a\n}",
        "define void @__asan_store4_noabort(i64 %a) {\n  ret void\n}",
        "define void @f() prologue i32 5 {\n  ret void\n}",
        'define void @f() section ".text.startup" {\n  ret void\n}',
        "define void @f(i32 %a, ...) {\n  ret void\n}",
        "define void @f(ptr nest %a) {\n  ret void\n}",
        '@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 1, ptr @k, ptr null }]',
    ],
)  # fmt: skip
def test_other_definitions_are_refused(head: str) -> None:
    assert refused(module("  fence seq_cst", head)).kind == "compile_error"


def test_a_name_like_an_attribute_is_a_name_and_no_option_reaches_the_linker() -> None:
    head = "define internal float @f(float %nest, i32 %sret.inreg) {\n  ret float %nest\n}\n"
    made = seal(module("  %byval = call float @f(float 1.0, i32 %n)", head) + "!llvm.linker.options = !{!5}\n", SECRET)
    assert isinstance(made, str) and "call float @f(float 1.0, i32 %n)" in made and "linker.options" not in made


def test_a_refusal_names_the_line_of_the_candidate() -> None:
    assert refused(module("  %1 = va_arg ptr %p, i32, !dbg !5")).line == 17


FENCE = "  call void @ks_fence(i32 noundef 3)"
ORDERED = '  fence syncscope("singlethread") seq_cst'
BARRIER = "  call preserve_nonecc void @ks_barrier()"


@pytest.mark.parametrize(
    ("body", "kinds"),
    [
        ((FENCE, ORDERED, BARRIER), 19),
        ((FENCE, BARRIER), 19),
        ((FENCE, ORDERED), 3),
        ((FENCE, "  store float 1.0, ptr %p, align 4", BARRIER), 3),  # which its fence says nothing of
        ((BARRIER, FENCE), 3),
    ],
)
def test_a_fence_says_that_its_barrier_follows_at_once(body: tuple[str, ...], kinds: int) -> None:
    entries = "declare void @ks_fence(i32 noundef)\ndeclare preserve_nonecc void @ks_barrier()\n"
    assert f"@ks_fence(i32 noundef {kinds})" in sealed("\n".join(body), entries)
