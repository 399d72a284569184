"""Expressions of a plan mean the same in C++ as in Python."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from exports.arithmetic import FUNCTIONS, condition_in_cpp, in_cpp
from records.errors import PlanError
from tasks.expressions import evaluate
from tests.support.host_program import host_program, printed

NAMES = {"rows": 1025, "cols": 3, "TILE": 64}
LEAVES = ("rows", "cols", "TILE", "0", "7", "128", "-5")


def expression(draw: random.Random, depth: int) -> str:
    if depth == 0:
        return draw.choice(LEAVES)
    left, right = (expression(draw, depth - 1) for _ in range(2))
    form = draw.choice(
        ("({} + {})", "({} - {})", "({} * {})", "({} // {})", "({} % {})", "min({}, {})", "max({}, {}, 3)",
         "ceil_div({}, {})", "({} <= {})", "({} == {})", "({} != {})")
    )  # fmt: skip
    return form.format(left, right)


def test_random_expressions_have_the_values_that_the_plan_gives_them(tmp_path: Path) -> None:
    draw = random.Random(5)
    texts, expected = [], []
    while len(texts) < 60:
        text = expression(draw, draw.randint(1, 3))
        try:
            expected.append(evaluate(text, NAMES))
        except PlanError:  # a division by zero
            continue
        texts.append(text)
    rows = ",\n".join(in_cpp(text, {name: f"{value}ll" for name, value in NAMES.items()}) for text in texts)
    path = tmp_path / "values.cpp"
    main = 'int main() { for (long long value : values) printf("%lld\\n", value); }'
    path.write_text(
        f"#include <stdio.h>\n{FUNCTIONS}\nlong long values[] = {{\n{rows}\n}};\n{main}\n", encoding="utf-8"
    )
    assert [int(line) for line in printed(host_program(path))] == expected
    assert len(set(expected)) > 20


def test_conditions_are_joined_and_other_text_is_refused() -> None:
    names = {"rows": "rows", "cols": "cols"}
    joined = condition_in_cpp("rows * cols <= 64 and cols % 4 == 0", names)
    assert joined == "((rows * cols) <= 64ll) && (plan::floor_mod(cols, 4ll) == 0ll)"
    for text in ("rows ** 2", "unknown + 1", "rows.bit_length()"):
        with pytest.raises(PlanError):
            in_cpp(text, names)
