"""A candidate for two compilers: what only one of them would do is refused, what both do alike is not."""

# ruff: noqa: E501 - one line a snippet of C++
from __future__ import annotations

import pytest

from records.evaluation import Finding
from sandbox.candidate.plan import Launch
from sandbox.lab.build.kernel_names import called_symbols, unlike_symbols
from sandbox.lab.build.lab_program import LabProgram
from tests.support.lab_bench import HEAD, build, launch

KERNEL = 'extern "C" __global__ void k(float* y) { y[threadIdx.x] = 1; }\n'


def findings(text: str) -> tuple[Finding, ...]:
    made = build(f"{HEAD}\n{text}\n{KERNEL}", [launch("k", ["y"])])
    return () if isinstance(made, LabProgram) else made


REFUSED = {
    "weak": "__attribute__((__weak__)) __device__ int p;",
    "weak in brackets": "[[gnu::weak]] __device__ int p;",
    "with using": "[[using gnu: weak, unused]] __device__ int p;",
    "declspec": '__declspec(noinline) __device__ __attribute__((target("avx"))) int p() { return 1; }',
    "no_sanitize": '__device__ [[clang::__no_sanitize__("address")]] int p() { return 1; }',
    "no_sanitize by _Pragma": '_Pragma("clang attribute push([[clang::no_sanitize(\\"a\\")]], apply_to=function)")\n'
    '_Pragma("clang attribute pop")',
    "annotate": '__device__ __attribute__((annotate("Implicit"))) int p;',
    "host function": "int f(int a) { return a; }",
    "host constructor": "struct S { S(int v) : a(v) {} int a; };",
    "host function with a trailing type": "auto f() -> int { return 1; }",
    "host operator": "struct S {}; bool operator<(S a, S b) { return true; }",
    "host template": "template <class T> T f(T a) { return a; }",
    "host overload": "__host__ int f(int a) { return 0; } __device__ int f(long a) { return 1; }",
    "enable_if": '__device__ int f(int a) __attribute__((enable_if(a > 0, ""))) { return a; }',
    "constant_p": "__device__ int a = __builtin_constant_p(3);",
    "is_constant_evaluated": "__device__ int f() { const int a = __builtin_is_constant_evaluated(); return a; }",
    "if consteval": "__device__ constexpr int f() { if consteval { return 1; } return 0; }",
    "line": "__device__ int f() { return __builtin_LINE(); }",
    "function": "__device__ const char* f() { return __builtin_FUNCTION(); }",
    "object size": "__device__ int f(float* p) { return __builtin_object_size(p, 0); }",
    "host's builtin": "__device__ bool f() { return requires { __builtin_ia32_pause(); }; }",
    "size of an LDS pointer": "__device__ int f() { return sizeof(__attribute__((address_space(3))) int*); }",
    "size of an alias": "typedef __attribute__((address_space(3))) float near; using P = near*;\n"
    "__device__ int f() { P p = 0; return sizeof p; }",
    "size in a template": "template <class T> __device__ int s() { return sizeof(T); }\n"
    "__device__ int f() { return s<__attribute__((address_space(3))) int*>(); }",
    "size of an LDS pointer by a macro": "#define NEAR __attribute__((address_space(3)))\n"
    "__device__ int f() { return sizeof(NEAR int*); }",
    "LDS pointers by a macro that changes": "#define NEAR __attribute__((address_space(3)))\n"
    "__device__ float f(NEAR float* p) { return *p; }\n#undef NEAR\n#define NEAR __attribute__((address_space(1)))",
    "literal type": "struct B { __amdgpu_buffer_rsrc_t r; }; __device__ int f() { return __is_literal(B) ? 1 : 2; }",
    "constexpr by literal type": "struct B { __amdgpu_buffer_rsrc_t r; };\n"
    "template <class T> concept C = requires { [] { constexpr T t{}; return t; }; }; __device__ int f() { return C<B>; }",
    "builtin of its own": "namespace n { enum E : int { e }; __device__ int __builtin_amdgcn_readfirstlane(E a) { return a; } }\n"
    "__device__ int f() { return __builtin_amdgcn_readfirstlane(n::e); }",
    "builtin of a friend": "struct S { __device__ operator int() const { return 1; }\n"
    "__device__ friend int __builtin_amdgcn_readlane(S, int) { return 2; } };\n"
    "template <class T> __device__ int g(T a) { return __builtin_amdgcn_readlane(a, 0); } __device__ int f() { return g(S{}); }",
    "LDS pointer in a class of a template": "#define NEAR __attribute__((address_space(3)))\n"
    "template <class T> struct S { NEAR T* p; }; __device__ int f() { return sizeof(S<float>); }",
    "LDS pointer in a member class of a template": "template <class T> struct S { struct M { __attribute__((address_space(3))) T* p; }; };\n"
    "__device__ float f(S<float>::M m) { return *m.p; }",
    "LDS pointer in a partial specialisation": "template <class T> struct S {}; template <class T> struct S<T*> { __attribute__((address_space(3))) T* p; };\n"
    "__device__ float f(S<float*> m) { return *m.p; }",
    "LDS pointer in a structure": "struct S { __attribute__((address_space(3))) int* p; char c; };",
    "va_list": "__device__ int f() { return sizeof(__builtin_va_list); }",
    "noexcept of a builtin": "__device__ bool f() { return noexcept(__builtin_amdgcn_s_sleep(1)); }",
    "concept of a builtin": "template <class T> concept C = requires(T t) { { __builtin_amdgcn_readfirstlane(t) } noexcept; };\n"
    "__device__ bool f() { return C<int>; }",
    "shared in a list": "__device__ int f() { __attribute__((shared, aligned(4))) int p; p = 1; return p; }",
    "asm with an escape": '__device__ void f() { asm("\\x73_barrier"); }',
    "asm with a comment": '__device__ void f() { asm("s_nop 0 /*\\ns_barrier\\n//*/"); }',
    "asm as a label": 'extern "C" __device__ int g() __asm__("other"); __device__ int f() { return g(); }',
    "digraph line": '%: 1 "candidate.hip"',
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_only_one_compiler_does_is_refused(name: str) -> None:
    found = findings(REFUSED[name])
    assert found and found[0].kind == "compile_error" and found[0].line is not None, found


PERMITTED = {
    "constants of a template that bounds of a launch alone name": "template <int N> struct T { static constexpr int threads = 64 * N; static constexpr int least = N + 1; };\n"
    "template <class S> __global__ __launch_bounds__(S::threads, S::least) void g(float* y) { y[threadIdx.x] = S::threads; }\n"
    "__device__ const void* const p = (const void*)&g<T<1>>;",
    "alignas of a type": "__device__ float f() { __shared__ alignas(float4) float t[4]; alignas(double) float u[4]; t[0] = 1; "
    "u[0] = t[0]; return u[0]; }",
    "alignas of a structure": "struct alignas(16) S { alignas(float) char c; }; __device__ int a[sizeof(S) == 16 ? 1 : -1];",
    "alignas of an expression": "template <int N> struct S { alignas(N * 4) int a; }; __device__ S<4> s;",
    "raw string": '__device__ const char t[] = R"x(\n# 1 "f" 2\n#pragma weak p\nasm("v_nop") ks_\n)x";',
    "digit separators": "__device__ int f() { return 1'000 + 0b1'1 + 'a'; } __device__ char c = '\"';",
    "lambdas": "__device__ int f() { auto g = [&]<class T>(T q) mutable noexcept -> int { return q; }; return g(1) + [] { return 2; }(); }",
    "requires": "template <class T> requires(sizeof(T) == 4) [[nodiscard]] __device__ auto id(T a) -> T { return a; }\n"
    "__device__ float f() { return id(1.0f); }",
    "operators": "struct V { float v; __device__ V operator+(V b) const { return V(v + b.v); } __device__ operator float() const "
    "{ return v; } __device__ explicit V(float a) : v(a) {} V() = default; };\n__device__ float f() { return V(1.0f) + V(2.0f); }",
    "nested templates": "template <int N> struct A { template <class T> struct B { __device__ static T get(T a) { if constexpr "
    "(N > 2) return a; else return T(0); } }; };\n__device__ float f() { return A<3>::B<float>::get(1); }",
    "constexpr": "constexpr int f(int a) { return a < 2 ? 1 : a * f(a - 1); } __device__ int t[f(4)];",
    "attributes": "[[maybe_unused]] static __device__ __attribute__((noinline, pure)) int f(int a) { if (a) [[likely]] return 1; return 0; }",
    "LDS by its address space": "typedef __attribute__((address_space(3))) float near;\n"
    "__device__ float f() { __shared__ float t[4]; t[0] = 1; near* p = (near*)t; return p[0]; }",
    "half": "__device__ float f(_Float16 a) { return (float)(a * a); }",
    "asm": '__device__ void f(float a) { asm volatile("s_waitcnt vmcnt(0)\\n\\ts_barrier ; both" : "+v"(a) : "v"(a + 1) : "memory"); }',
    "namespaces": "namespace a::b { namespace { __device__ int f() { return 1; } } inline namespace c { struct S {}; } }",
    "wave": "__device__ int f() { return warpSize + __builtin_amdgcn_readfirstlane(1) * (int)__ballot(1) + __popcll(3); }",
    "braces and macros for a builtin": "#include <climits>\ntypedef _Float16 h __attribute__((ext_vector_type(2)));\n"
    "__device__ void f(h* p) { __builtin_amdgcn_global_atomic_fadd_v2f16((__attribute__((address_space(1))) h*)p, h{1, 2}); }\n"
    "__device__ int g(int a) { return __builtin_amdgcn_update_dpp(INT_MIN, a, 0xb1, 15, 15, false); }",
    "builtins in templates": "template <class T> __device__ T f(T a) { return __builtin_amdgcn_readfirstlane(a); }\n"
    "template <class T, int S> __device__ T g(T* p) { return __hip_atomic_fetch_add(p, T{1}, __ATOMIC_RELAXED, S); }\n"
    "__device__ int h(int* p) { return f(3) + g<int, __HIP_MEMORY_SCOPE_AGENT>(p); }",
    "address spaces by a macro": "#define NEAR __attribute__((address_space(3)))\n"
    "__device__ float f(NEAR const float* p) { return *p; } template <class T> using q = NEAR T*;",
    "address spaces by a macro in a cast": "#define NEAR __attribute__((address_space(3)))\n"
    "__device__ void* f(unsigned a) { return (void*)reinterpret_cast<NEAR void*>(a); }",
    "LDS pointer in a template of which no class is made": "#define NEAR __attribute__((address_space(3)))\n"
    "template <class T> struct S { NEAR T* p; struct M { NEAR T* p; }; template <class V> struct N { NEAR V* p; }; };\n"
    "template <class T> struct S<T*> { NEAR T* p; };",
    "address spaces by a macro that is empty elsewhere": "#if 1\n#define NEAR __attribute__((address_space(3)))\n#else\n"
    "#define NEAR\n#endif\n__device__ float f(NEAR const float* p) { return *p; }",
    "loads into LDS and atomics of raw buffers": "__device__ void f(float* p, float* l) {\n"
    "auto r = __builtin_amdgcn_make_buffer_rsrc(p, 0, 64, 0x00027000);\n__builtin_amdgcn_raw_ptr_buffer_load_lds(r, "
    "(__attribute__((address_space(3))) void*)l, 4, 0, 0, 0, 0);\n"
    "__builtin_amdgcn_raw_ptr_buffer_atomic_fadd_f32(1.0f, r, 0, 0, 0); }",
    "lambda behind a macro": "#define WIDTH 1000\ntemplate <class F> __device__ int f(F g) { return g(); }\n"
    "__device__ int h() { return WIDTH + f([] { return 1; }); }",
    "unroll by a macro": "#define TIMES 4\n__device__ int f(int n) { int s = 0;\n#pragma unroll TIMES\n"
    "for (int i = 0; i < n; i++) s += i;\n#pragma clang loop unroll_count(TIMES)\nfor (int i = 0; i < n; i++) s += i;\nreturn s; }",
    "pragmas": "__device__ int f(int n) { int s = 0;\n#pragma unroll 4\nfor (int i = 0; i < n; i++) s += i;\nreturn s; }",
}


@pytest.mark.parametrize("name", PERMITTED)
def test_what_both_do_alike_is_not(name: str) -> None:
    assert findings(PERMITTED[name]) == ()


def test_a_kernel_is_known_by_its_symbol() -> None:
    one = Launch("k", ("1",), ("1",), "0", (), 3)
    bridge = (
        "define dso_local void @ks_launch_0() #1 {\n  call void @_Z9ks_invoke(ptr noundef @_ZN1a1kEPf)\n  ret void\n}\n"
    )
    symbols = called_symbols(f"define void @other() {{\n  call void @x(ptr noundef @y)\n}}\n{bridge}", [one])
    assert symbols == {"k": "_ZN1a1kEPf"}
    assert unlike_symbols(symbols, {"k": "_ZN1a1kEPf"}, [one]) == ()
    assert unlike_symbols({"k": "_ZL1kPf"}, {"k": "_ZL1kPf.static.0"}, [one]) == ()
    assert [f.line for f in unlike_symbols(symbols, {"k": "k"}, [one])] == [3]
    assert unlike_symbols({}, {}, [one])


def test_several_kernels_of_one_name_are_refused() -> None:
    text = "namespace a { __global__ void k(float* y) { y[0] = 2; } }"
    assert [f.message for f in findings(text)] == [
        "the plan launches 'k', but the file has several kernels of that name; name one of them by its namespace or by "
        "the types of its parameters, as in name(float*, int)"
    ]
