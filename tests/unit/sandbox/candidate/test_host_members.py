"""Host functions inside classes go, of constructors the body; device functions and the classes themselves stay."""

from __future__ import annotations

from sandbox.candidate.host_half import without_host_half

CLASS = """struct Width {
  static __host__ int get() {
    hipDeviceProp_t found;
    return found.warpSize;
  }
  static __device__ constexpr int get() { return 64; }
  enum { A = 1 };
  struct Inner {
    int x = 3;
    __host__ Inner(int y) : x(y) { touch(); }
    __host__ __device__ int both() const { return x; }
  };
};
"""


def test_members_marked_for_the_host_go_and_constructors_keep_their_declaration() -> None:
    device_half = without_host_half(CLASS)
    assert device_half.count("\n") == CLASS.count("\n")
    assert "static __host__ int get()" not in device_half
    assert "hipDeviceProp_t" not in device_half
    assert "__host__ Inner(int y) ;" in device_half
    assert "touch" not in device_half
    for fragment in ("static __device__ constexpr int get() { return 64; }", "enum { A = 1 };", "{ return x; }"):
        assert fragment in device_half


def test_an_unmarked_member_goes_in_a_file_with_a_host_half_only() -> None:
    text = "struct S {\n  int size() const { return 4; }\n  constexpr int twice() { return 8; }\n};\n"
    main = "__global__ void k(S s) {}\nint main() { k<<<1, 1>>>(S()); }\n"
    assert "return 4" in without_host_half(text)
    device_half = without_host_half(text + main)
    assert "return 4" not in device_half
    assert "return 8" in device_half


def test_a_member_whose_declaration_is_the_hosts_goes_whole() -> None:
    text = "struct S {\n  at::Tensor made(at::Tensor x) { return x; }\n  int n;\n};\n"
    device_half = without_host_half(text)
    assert "Tensor" not in device_half
    assert "int n;" in device_half


def test_a_constructors_initialisers_go_behind_a_macro_as_well_and_a_hosts_operator_is_no_friend() -> None:
    text = (
        "struct Half {\n  Half() NOEXCEPT : x(missing()) {}\n  friend Half hosts::operator+(Half, Half);\n"
        "  friend __device__ Half operator-(Half, Half);\n  float x;\n};\n__device__ Half one;\n"
    )
    device_half = without_host_half(text + "int main() { hipFree(0); }\n")
    assert "Half() NOEXCEPT ;" in device_half
    assert "missing" not in device_half
    assert "operator+" not in device_half
    assert "operator-" in device_half
