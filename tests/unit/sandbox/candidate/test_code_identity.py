from __future__ import annotations

import pytest

from sandbox.candidate.code_identity import code_id

CODE = '+++*/\n#include <hip/hip_runtime.h>\nextern "C" __global__ void k(float* y) { y[0] = 1.0f; }\n'
PLAN = "/*+++\n[tunables]\nN = [1, 2]\n"


def test_files_with_other_defaults_hold_the_same_code() -> None:
    assert code_id(PLAN + CODE) == code_id(PLAN.replace("1, 2", "2, 1") + CODE)


@pytest.mark.parametrize(
    "other",
    [
        PLAN + CODE.replace("1.0f", "2.0f"),
        PLAN + "\n" + CODE,  # each line has another number
        PLAN + "x = 1 " + CODE,  # the code behind the plan stands in other columns
        "\n" + PLAN + CODE,
        PLAN.removeprefix("/*+++") + CODE,
    ],
)
def test_other_code_and_other_places_of_it_have_another_identity(other: str) -> None:
    assert code_id(PLAN + CODE) != code_id(other)


@pytest.mark.parametrize(
    "reads",
    [
        '#embed "candidate.hip"\n',
        '%: embed "candidate.hip"\n',
        "#include __FILE__\n",
        '#inc\\\nlude "candidate.hip"\n',
        '#if __has_embed("candidate.hip" limit(9))\n#endif\n',
        "_Pragma(include_alias)\n",
    ],
)
def test_code_that_may_read_its_own_file_counts_with_its_plan(reads: str) -> None:
    first, other = PLAN + CODE + reads, PLAN.replace("1, 2", "2, 1") + CODE + reads
    assert code_id(first) != code_id(other)


@pytest.mark.parametrize("plan", [PLAN.replace("[1", "\\\n[1"), PLAN + "a = '*/'\n"])
def test_a_comment_that_may_end_early_counts_whole(plan: str) -> None:
    assert code_id(plan + CODE) != code_id(plan.replace("1, 2", "2, 1") + CODE)
