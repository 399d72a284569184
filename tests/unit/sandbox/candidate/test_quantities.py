from sandbox.candidate.prepare import Prepared, prepare
from sandbox.candidate.quantities import quantities, unused_tunables
from tests.support.plans import a_task, source

PLAN = """\
[[launch]]
kernel = "k"
grid = ["ceil_div(rows, ROWS)", "WIDE"]
block = ["64 * ROWS * WIDE"]
lds = "4 * ROWS"
args = ["x", "y", "rows", "cols", "eps", "GIVEN"]
[tunables]
ROWS = [4, 1, 2]
WIDE = [1, 2]
GIVEN = [1, 2]
MACRO = [1, 2]
IDLE = [1, 2, 3]
[constraints]
fits = "ROWS * WIDE * 64 <= 512 * IDLE"
other = "ROWS + WIDE >= 1"
"""
BODY = """#include <hip/hip_runtime.h>
__global__ void k(const float* x, float* y, int rows, int cols, float eps, int given) { y[0] = x[MACRO]; }
"""


def prepared(plan: str = PLAN, body: str = BODY) -> Prepared:
    task = a_task()
    prepared_kernel = prepare(source(plan, body), a_task(benchmarks=task.tests))
    assert prepared_kernel.refusal is None
    return prepared_kernel


def test_sizes_of_launches_and_sides_of_constraints_count_where_they_depend_on_two_tunables() -> None:
    candidate = prepared()
    rows = quantities(candidate)
    assert len(rows) == len(candidate.choices)
    expected = {tuple(float(64 * c["ROWS"] * c["WIDE"]) for c in candidate.choices)}
    expected.add(tuple(float(c["ROWS"] + c["WIDE"]) for c in candidate.choices))
    assert set(zip(*rows, strict=True)) == expected


def test_a_file_whose_sizes_follow_from_one_tunable_each_has_none() -> None:
    plain = PLAN.replace("64 * ROWS * WIDE", "64 * ROWS").partition("[constraints]")[0]
    assert quantities(prepared(plain)) == []


def test_a_tunable_that_neither_plan_nor_code_names_is_unused() -> None:
    idle = PLAN.replace("512 * IDLE", "512")
    assert unused_tunables(prepared(idle)) == {"IDLE"}
    assert unused_tunables(prepared()) == frozenset(), "a constraint reads it"
    assert unused_tunables(prepared(idle, BODY + "#define JOIN(a, b) a##b\n")) == frozenset()
