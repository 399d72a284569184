"""Names that only a build could define are told, where device code of a public file stands behind them."""

from __future__ import annotations

from sandbox.candidate.guessed_branches import GuessedBranch, guessed_branches, guesses_text

PLAN = """/*+++
[[launch]]
kernel = "k"
grid = [1]
block = [64]
args = ["x", "y", "n"]

[tunables]
WIDE = [0, 1]
+++*/
"""
FILE = """#include "config.h"
#define MINE 1
__global__ void k(const float* x, float* y, int n) {
#if defined(USE_FAST) && !defined(__HIPCC__)
    y[threadIdx.x] = __expf(x[threadIdx.x]);
#elif USE_OTHER > 2
    y[threadIdx.x] = exp2f(x[threadIdx.x]);
#else
    y[threadIdx.x] = expf(x[threadIdx.x]);
#endif
#ifdef MINE
    y[0] = WIDE;
#endif
#if WIDE
    y[1] = 0;
#endif
#ifdef USE_WORDS
#include <cstdint>
#endif
#ifdef USE_FAST
    y[2] = 0;
#endif
}
int main() { k<<<1, 64>>>(nullptr, nullptr, 64); }
#ifdef HOST_ONLY
int other() { return cudaGetLastError(); }
#endif
"""


def test_names_behind_which_device_code_stands_are_found_with_their_lines() -> None:
    first = PLAN.count("\n") + 4
    assert guessed_branches(PLAN + FILE) == (
        GuessedBranch("USE_FAST", (first, first + 16)),
        GuessedBranch("USE_OTHER", (first + 2,)),
    )
    sentence = guesses_text(PLAN + FILE)
    assert f'"config.h" is not here: USE_FAST (line {first}, {first + 16}); USE_OTHER (line {first + 2}).' in sentence


def test_a_branch_that_the_file_itself_chooses_is_no_guess() -> None:
    chosen = FILE.replace("#define MINE 1", "#define USE_OTHER 3").replace("#ifdef USE_FAST", "#ifdef MINE")
    assert [branch.name for branch in guessed_branches(PLAN + chosen)] == ["MINE"]


def test_a_kernel_that_was_written_for_the_judge_is_not_asked() -> None:
    device = FILE[FILE.index("__global__") : FILE.index("int main")]
    assert guesses_text(PLAN + device) == ""
    assert guesses_text("int main() { return 0; }") == ""
