"""Macros under a name of a header that is read behind them are refused; those that no compiler reads are not."""

from __future__ import annotations

import pytest

from sandbox.candidate.plan import Candidate, Launch, Plan
from sandbox.lab.build.device_text import early_definitions, lines_of_definitions
from tests.support.lab_bench import lab

BEGINNING = "#include <hip/hip_runtime.h>\n"
KERNEL = "__global__ void k(int* y) { y[threadIdx.x] = 1; }\n"


def built(text: str) -> object:
    source = BEGINNING + text + KERNEL
    return lab().build(Candidate(source, source, Plan((Launch("k", ("1",), ("64",), "0", ("y",), 1),))), {})


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("#define Sum 1\n#include <hipcub/hipcub.hpp>\n", 2),
        ("#ifdef __HIP__\n#define grid_group x\n#endif\n#include <hip/hip_cooperative_groups.h>\n", 3),
    ],
)
def test_a_macro_of_a_word_of_a_later_header_is_refused(text: str, line: int) -> None:
    (finding,) = built(text)  # type: ignore[misc]
    assert "after the includes" in finding.message
    assert finding.line == line


@pytest.mark.parametrize(
    "text",
    [
        "#define Sum 1\n",
        "#define threadIdx_x threadIdx.x\n#define float4 float4\n#include <hip/hip_runtime.h>\n#include <vector>\n",
        "#ifndef __cplusplus\n#define Sum 1\n#endif\n#include <hipcub/hipcub.hpp>\n",
    ],
)
def test_a_macro_that_no_header_meets_is_permitted(text: str) -> None:
    assert not isinstance(built(text), tuple)


def test_lines_and_names_of_what_the_preprocessor_read() -> None:
    source = "#define A 1\n#include <one>\n#define B 2\n"
    expanded = '# 1 "candidate.hip"\n\n# 1 "/include/bit" 1\nint x;\n# 3 "candidate.hip" 2\n\n'
    assert early_definitions(source, expanded) == ()
    read = '# 1 "candidate.hip"\n#define A 1\n\n#undef B\n# 1 "/include/bit" 1\n#define C\n'
    assert lines_of_definitions(read) == {1, 3}
