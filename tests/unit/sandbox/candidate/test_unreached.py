"""What the plan's kernels cannot name goes where a file has a host half; what they may reach stays, by any name."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest

from sandbox.candidate.parse import normalise
from sandbox.candidate.unreached import MAX_NAME

PLAN = '/*+++\n[[launch]]\nkernel = "k<float, N>"\n+++*/\n#include <hip/hip_runtime.h>\n'
KERNEL = "template <class T, int n>\n__global__ __launch_bounds__(64) void k(T* y) { y[0] = f(y[0]); }\n"
USED = "__device__ float f(float x) { return x; }\n"
MAIN = "int main() { hipFree(0); }\n"


def _left(text: str) -> str:
    return normalise(PLAN + text + USED + KERNEL + MAIN)


@pytest.mark.parametrize(
    "text",
    [
        '__device__ int s(half x) { short y; asm("cvt.s8.f16 %0, %1;" : "=h"(y) : "h"(x)); return y; }',
        "template <class T> __global__ void other(curandState* s, T* y) { y[0] = curand(s); }",
        "__global__ __launch_bounds__(128) void other(int* y) { y[0] = __dp4a(1, 2, 3); }",
        "__global__ void other(curandState* s);",
        "__device__ void g(int* y) { g(y); }",  # only itself names it
        "template <> __device__ int cast<int, half>(half x) { return __half2int_rn(x); }",
        "struct Tensors { __device__ int at() { return missing(); } };",
        "inline constexpr auto kDevice = kMissing;",
        "template <class... T> inline constexpr auto kList = std::array<Missing, sizeof...(T)>{T::value...};",
        "using location = missing::location;",
        "typedef struct W { float operator()(float x) { return missing(x); } Missing at; } W;",
        "template <class... T> auto all_of(T&... x) RETURNS(missing(x)...);",
        'static struct option options[] = {{"all", 1}};',
        "template <class T> using vec = missing::vector<T, 4>;",
        "typedef missing::location where;",
        "inline auto operator==(Missing a, const missing::Other& b) -> bool { return a.x == b.x; }",
        "constexpr int width(Missing m) { return m.width; }",
        "template <class C> explicit Checked(C&&, Missing) -> Checked<C>;",
    ],
)
def test_what_no_launch_reaches_becomes_an_empty_line(text: str) -> None:
    assert _left(f"{text}\n") == PLAN + "\n" + USED + KERNEL
    assert _left(f"{text}\n").count("\n") + 1 == (PLAN + text + USED + KERNEL + MAIN).count("\n") + 1


@pytest.mark.parametrize(
    "text",
    [
        "__device__ float g(float x);\n#define f(x) g(x)\n__device__ float g(float x) { return x; }\n",
        "#define JOIN(a) a##_of\n__device__ int last_of(int x) { return x; }\n__device__ int v = JOIN(last)(1);\n",
        "struct N { float x; };\n",  # the plan names it
        "__device__ int h() { return 1; }\n__constant__ auto table = h;\n",
        "struct R { float x; };\n__device__ R operator+(R a, R b) { return a; }\n__device__ R zero;\n",
        "enum Kind { one, two };\n",
        "typedef enum Shade { dark, light } Shade;\n",
        "struct { int x; } nameless;\n",
        "constexpr int wide = 4;\nconst int narrow = wide / 2, other = 1;\n",
        "#define TRAIT(T) struct f_##T { __device__ static float of(T x) { return x; } }\nTRAIT(float);\n",
        "using R = float;\nstatic_assert(sizeof(R) == 4);\n",
        "__constant__ float table[4];\n",
        "namespace g { using R = float; }\nusing g::R;\n",
        "constexpr int of(int x) { return x; }\n#define f(x) (of(1) * (x))\n",
        "enum class N { set, map };\n",
        "typedef int N __attribute__((ext_vector_type(2)));\n",
        "struct N { int x[2]; };\ntemplate <> struct std::tuple_size<N> { static constexpr int value = 2; };\n",
        "struct Sum { __device__ float of(float x) { return x; } };\n"
        "template <class T> struct N { T x; __device__ N(T); __device__ N& operator+=(T a); };\n"
        "template <class T> template <class U> __device__ N<T>::N(U a) : x{a} {}\n"
        "template <class T> __device__ N<T>& N<T>::operator+=(T a) { x = Sum().of(a); return *this; }\n",
    ],
)
def test_what_a_launch_may_reach_stays(text: str) -> None:
    assert _left(text) == PLAN + text + USED + KERNEL


def test_files_without_a_host_half_and_tables_of_kernels_stay() -> None:
    other = "__device__ void other() {}\n"
    assert normalise(PLAN + other + USED + KERNEL) == PLAN + other + USED + KERNEL
    table = f"/*+++\n[[variant]]\npart = 'a'\n+++*/\n//+++ part a\n{PLAN}{other}{USED}{KERNEL}"
    assert other in normalise(table + MAIN)


def test_what_is_left_is_left_again() -> None:
    text = _left("__device__ int s() { return curand(0); }\n__device__ void other() {}\n")
    assert normalise(text) == text


def test_a_name_too_long_to_be_taken_apart_stays_where_words_are_joined() -> None:
    join = "#define JOIN(a, b) a##b\n__device__ auto made = JOIN(la, st)();\n"
    for length, stays in ((MAX_NAME, False), (MAX_NAME + 1, True)):
        function = f"__device__ int {'z' * length}() {{ return 1; }}\n"
        assert (function in _left(join + function)) is stays


def test_twice_the_macros_are_twice_the_work() -> None:
    few, many = (
        _calls("".join(f"__device__ void f{i}() {{}}\n#define M{i}(x) x##{i}\n" for i in range(count)))
        for count in (100, 200)
    )
    assert many < 2.5 * few


def _calls(text: str) -> int:
    """Functions of Python called."""
    count = 0

    def note(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        _left(text)
    finally:
        sys.setprofile(before)
    return count


def test_lines_of_a_text_that_look_like_directives_go_with_it_and_directives_stay() -> None:
    shader = 'const char* shader = R"(\n#version 330\n)";\nvoid host() {\n#define A 1 \\\n    2\n  hipFree(0);\n}\n'
    assert _left(shader) == PLAN + "\n\n\n\n#define A 1 \\\n    2\n\n\n" + USED + KERNEL
