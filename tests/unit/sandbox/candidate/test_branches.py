"""Branches of conditions are read where they close what they open; else the first one is."""

from __future__ import annotations

from sandbox.candidate.branches import balanced_rows
from sandbox.candidate.host_half import without_host_half
from sandbox.candidate.pp_tokens import rows, scan


def words(text: str) -> str:
    return " ".join(token.text for row in balanced_rows(rows(scan(text))).read for token in row)


def test_whole_branches_are_all_read() -> None:
    assert words("#if A\nint f() { }\n#else\nint g() { }\n#endif\nint h;\n") == "int f ( ) { } int g ( ) { } int h ;"


def test_of_branches_with_one_body_the_first_is_read() -> None:
    assert words("#if A\nint f() {\n#elif B\nint g() {\n#else\nint i() {\n#endif\n}\n") == "int f ( ) { }"


def test_branches_that_close_the_same_namespaces_are_all_read() -> None:
    text = "namespace a { namespace b {\n#if A\nint f();\n} }\n#else\nint g();\n} }\n#endif\nint h;\n"
    assert words(text).endswith("int f ( ) ; } } namespace { namespace { int g ( ) ; } } int h ;")


def test_branches_that_close_a_function_are_not_taken_for_the_rest_of_a_namespace() -> None:
    assert words("int f() {\n#if A\ng(); }\n#else\nh(); }\n#endif\n") == "int f ( ) { g ( ) ; }"
    assert words("struct f {\n#if A\nint g; };\n#else\nint h; };\n#endif\n") == "struct f { int g ; } ;"


def test_branches_within_branches() -> None:
    assert words("#ifdef A\n#if B\nx {\n#else\ny {\n#endif\n}\n#endif\nz\n") == "x { } z"


def test_a_text_whose_conditions_do_not_end_is_read_whole() -> None:
    assert words("#if A\nx\n") == "x"
    assert words("#endif\nx\n") == "# endif x"


def test_the_host_half_is_found_behind_a_function_with_two_heads() -> None:
    text = """__global__ void k(int* y) {
#ifdef A
  if (y[0]) {
#else
  if (y[1]) {
#endif
    y[2] = 1;
  }
}
void launch(int* y, hipStream_t stream) { k<<<1, 64, 0, stream>>>(y); }
"""
    device_half = without_host_half(text)
    assert "launch" not in device_half
    assert "y[2] = 1" in device_half


def test_a_kernel_in_the_second_of_two_ends_of_a_namespace_stays_with_its_constant() -> None:
    text = """/*+++
[[launch]]
kernel = "marlin::moved"
grid = [1]
block = [64]
args = ["x", "y"]
+++*/
namespace marlin {
static constexpr int width = 64;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
__global__ void moved(const int* x, int* y) {}
}
torch::Tensor move(torch::Tensor a) { return a; }
#else
__global__ void moved(const int* x, int* y) { y[threadIdx.x] = x[width - 1 - threadIdx.x]; }
}
torch::Tensor move(torch::Tensor a) { moved<<<1, width>>>(a.ptr(), a.ptr()); return a; }
#endif
"""
    device_half = without_host_half(text)
    assert "torch" not in device_half
    assert "int width = 64" in device_half
    assert "y[threadIdx.x]" in device_half


def test_what_an_unread_head_names_stays() -> None:
    text = """/*+++
[[launch]]
kernel = "k"
grid = [1]
block = [64]
args = ["y"]
+++*/
struct Narrow { int value; };
struct Wide { int value; };
struct Other { int value; };
#ifdef A
__global__ void k(Narrow* y) {
#else
__global__ void k(Wide* y) {
#endif
    y[threadIdx.x].value = 1;
}
void launch(Wide* y, hipStream_t stream) { k<<<1, 64, 0, stream>>>(y); }
"""
    device_half = without_host_half(text)
    assert "struct Wide" in device_half
    assert "struct Narrow" in device_half
    assert "struct Other" not in device_half
