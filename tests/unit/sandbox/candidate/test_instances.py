from __future__ import annotations

import pytest

from sandbox.candidate.instances import (
    address,
    appended,
    bare,
    expressions,
    is_kernel_name,
    launches_with,
    macros,
    names_of_the_judge,
    read_symbols,
)
from sandbox.candidate.plan import FILL, Launch

K = Launch("k", ("1",), ("1",), "0", (), 3)
N = Launch("ops::k<float, BLOCK, Kind::BLOCK>", ("1",), ("1",), "0", (), 5)


PICKED = [
    "k(float*, int)",
    "a::k<float>(const T<int>*, unsigned long)",
    "k<float>(float*, const int*, const float*, int, int, int)",
]


@pytest.mark.parametrize(
    "name", ["k", "a::b::k", "::k", "k<float>", "a::k<unsigned int, (2 > 1), 3>", "k<float*>", *PICKED]
)
def test_names_of_kernels(name: str) -> None:
    assert is_kernel_name(name)


@pytest.mark.parametrize(
    "name", ["", "1k", "a b", "k<int", "k>", 'k<"a">', "k<1;>", "k{}", "k<#x>", "a::", "k" * 301, "k()()", "k(f())"]
)
def test_what_is_no_name_of_a_kernel(name: str) -> None:
    assert not is_kernel_name(name)


def test_the_types_of_parameters_choose_one_of_several_functions() -> None:
    assert [address(name) for name in ("a::k<int, (2 > 1)>", *PICKED)] == [
        "&a::k<int, (2 > 1)>",
        "static_cast<void (*)(float*, int)>(&k)",
        "static_cast<void (*)(const T<int>*, unsigned long)>(&a::k<float>)",
        "static_cast<void (*)(float*, const int*, const float*, int, int, int)>(&k<float>)",
    ]
    assert [bare(name) for name in ("k", "a::k<b::c, (2 > 1)>", "a::S<b<c>>::k", *PICKED)] == ["k"] * 6


def test_only_whole_names_belong_to_the_judge() -> None:
    assert names_of_the_judge("ks_fill") == ("ks_fill",)
    assert names_of_the_judge("ns::k<ks_x, 1KS_y, ns::ks_z>") == ("ks_x", "KS_y", "ks_z")
    assert names_of_the_judge("blocks_sum") == names_of_the_judge("tasks_::k<masks_n, RANKS_M>") == ()


def test_tunables_stand_in_a_name_as_their_values_but_behind_a_scope() -> None:
    (instance,) = launches_with([N], {"BLOCK": 256})
    assert instance.kernel == "ops::k<float, 256, Kind::BLOCK>"
    assert launches_with([K], {"k": 3}) == (K,)
    assert expressions([K, N, N]) == (N.kernel,)


def test_symbols_are_read_and_their_constants_leave_no_trace() -> None:
    listing = (
        "\t.text\n\ts_endpgm\n"
        "\t.protected\tks_kernel_0             ; @ks_kernel_0\n\t.type\tks_kernel_0,@object\n"
        '\t.section\t.ks_names,"aw",@progbits\n\t.globl\tks_kernel_0\n\t.p2align\t3, 0x0\n'
        'ks_kernel_0:\n\t.quad\t_ZN3ops1kIfEEvv\n\t.size\tks_kernel_0, 8\n\n\t.ident\t"c"\n'
    )
    plain, symbols = read_symbols(listing, [K, N])
    assert symbols == {N.kernel: "_ZN3ops1kIfEEvv"}
    assert plain == '\t.text\n\ts_endpgm\n\n\t.ident\t"c"\n'


def test_only_what_a_plan_needs_is_appended() -> None:
    assert appended([K], "candidate.hip") == ""
    text = appended([K, N, Launch(FILL, ("1",), ("1",), "0", ("y", "0", "0"), 9)], "candidate.hip")
    assert text.startswith("\n\n#line")  # a candidate's last line may have no end
    assert "ks_fill" in text and "ks_copy" not in text
    assert f'#line 5 "candidate.hip"\n__device__ const void* const ks_kernel_0 = (const void*)&{N.kernel};\n' in text


@pytest.mark.parametrize(
    ("code", "is_macro"),
    [
        ("__shared__ float a[SIZE];", True),
        ("template <int SIZE> __global__ void k();", False),
        ("template <typename T, unsigned SIZE = 4> struct A {};", False),
        ("constexpr int SIZE = 4;", False),
        ("// int SIZE\nint a = 3 * SIZE;", True),
        ("#ifndef SIZE\n#define SIZE 4\n#endif\nint f() { return SIZE; }", True),
        ("#ifdef SIZE\nint a[SIZE];\n#else\nconstexpr int SIZE = 4;\n#endif", True),
        ("template <int SIZE> void f() {\n#pragma unroll SIZE\nfor (;;) {} }", False),
        ("switch (x) { case SIZE: break; }", True),
        ("x = sizeof SIZE;", True),
    ],
)
def test_a_tunable_is_a_macro_unless_the_code_declares_its_name(code: str, is_macro: bool) -> None:
    assert macros(code, {"SIZE": 4}) == ({"SIZE": 4} if is_macro else {})
