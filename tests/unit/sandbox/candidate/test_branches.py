"""Branches of conditions are read where they close what they open; else the first one is."""

from __future__ import annotations

from sandbox.candidate.branches import balanced_rows
from sandbox.candidate.host_half import without_host_half
from sandbox.candidate.pp_tokens import rows, scan


def words(text: str) -> str:
    return " ".join(token.text for row in balanced_rows(rows(scan(text))) for token in row)


def test_whole_branches_are_all_read() -> None:
    assert words("#if A\nint f() { }\n#else\nint g() { }\n#endif\nint h;\n") == "int f ( ) { } int g ( ) { } int h ;"


def test_of_branches_with_one_body_the_first_is_read() -> None:
    assert words("#if A\nint f() {\n#elif B\nint g() {\n#else\nint i() {\n#endif\n}\n") == "int f ( ) { }"


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
    made = without_host_half(text)
    assert "launch" not in made
    assert "y[2] = 1" in made
