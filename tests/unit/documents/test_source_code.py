from __future__ import annotations

from pathlib import Path

from documents.source_code import from_code

HIP = """// Copyright
#include <hip/hip_runtime.h>
#define MAX(a, b) { \\
    (a) }

namespace ck {
// Adds two vectors.
// Each lane adds one element; a brace { in a comment.
template <typename T>
__global__ __launch_bounds__(256) void add(const T* a, T* b) {
    const char* s = "}";
    if (a) { b[0] = '{'; }
}

/* A tile. */
struct Tile {
    int rows;
    int area() const { return rows; }
};
}  // namespace ck

static const int TABLE[] = {1, 2};
int tail;
"""

TRITON = '''"""A module."""
import triton

# Launch parameters
BLOCK = 64


# softmax over rows
@triton.jit
def softmax(x_ptr, n: int):
    """Row softmax."""
    return x_ptr


class Plan:
    def run(self):
        return 1
'''


def sections(name: str, text: str) -> dict[str, str]:
    made = from_code(Path(name), text)
    parts = made.split("\n## ")[1:]
    return {part.partition("\n")[0]: part.partition("\n")[2] for part in parts}


def test_functions_of_hip_come_with_their_comments() -> None:
    found = sections("add.hip", HIP)
    assert list(found) == ["add", "Tile"]
    assert "// Adds two vectors." in found["add"] and "b[0] = '{'; }\n}" in found["add"]
    assert "/* A tile. */" in found["Tile"] and "```hip" in found["Tile"]
    assert from_code(Path("add.hip"), HIP).startswith("# add.hip\n") and "int tail;" in from_code(Path("a.h"), HIP)


def test_functions_of_python_and_triton_come_with_comments_and_decorators() -> None:
    found = sections("k.py", TRITON)
    assert list(found) == ["softmax", "Plan"]
    assert found["softmax"].strip().startswith("```python\n# softmax over rows\n@triton.jit\ndef softmax")
    assert "BLOCK = 64" in from_code(Path("k.py"), TRITON)


def test_a_file_that_does_not_parse_is_kept_whole() -> None:
    assert "print 'old'" in from_code(Path("k.py"), "print 'old'\n")
    assert "int x = {{{" in from_code(Path("k.cu"), "int x = {{{ // }\n")


def test_texts_that_never_end_are_read_once() -> None:
    for opening in ('R"(', "/*", '"', "{", "template<", "namespace n {"):
        code = opening * 50_000
        assert code[:1000].split("\n")[0] in from_code(Path("k.cpp"), code).replace("`", "")


def test_a_brace_that_two_branches_of_the_preprocessor_open_ends_with_its_function() -> None:
    code = "void f() {\n#if X\n  if (a) {\n#else\n  if (b) {\n#endif\n  }\n}\n\nvoid g() {\n}\n"
    made = from_code(Path("a.hip"), code)
    assert "## f" in made and "## g" in made and made.index("void f") < made.index("## g")
