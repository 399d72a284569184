from __future__ import annotations

import ast
from itertools import islice

import pytest

from benchmarks.mutation import change_node, mutants, own_tests


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a < b", "a <= b"),
        ("a is None", "a is not None"),
        ("a in b", "a not in b"),
        ("a and b", "a or b"),
        ("not a", "not not a"),
        ("a // b", "a * b"),
        ("7", "8"),
    ],
)
def test_a_fault_is_another_operator_or_number(before: str, after: str) -> None:
    tree = ast.parse(before)
    expression = tree.body[0]
    assert isinstance(expression, ast.Expr)
    change_node(expression.value)
    assert ast.unparse(tree) == after


def test_the_same_seed_draws_the_same_faults_and_each_text_parses() -> None:
    first, second = ([*islice(mutants(3), 4)] for _ in range(2))
    assert first == second != [*islice(mutants(4), 4)]
    for mutant in first:
        assert ast.dump(ast.parse(mutant.text)), mutant.path


def test_a_file_without_a_test_of_its_name_has_the_one_that_the_list_names() -> None:
    assert own_tests("agents/bench.py") == ("tests/unit/graph/test_workbench.py",)
    assert "tests/unit/sandbox/lab/test_candidate_stages.py" in own_tests("sandbox/lab/candidate_stages.py")
