"""Which comparisons of a program had one outcome only."""

from __future__ import annotations

from sandbox.lab.lab_program import LabProgram
from sandbox.lab.outcomes import Outcomes
from sandbox.machine.data_comparisons import DataComparison

SOURCE = "if (x > 3.0f) y = 1;\n  if (x < 2.0f && x > 1.0f) y = 2;\ny = __builtin_fmaxf(x, 0.0f);"


class Compared(LabProgram):
    """A program of which only its comparisons are known."""

    def __init__(self, path: str, *places: tuple[int, int]) -> None:
        object.__setattr__(self, "path", path)
        object.__setattr__(self, "_places", places)

    @property
    def comparisons(self) -> tuple[DataComparison, ...]:
        places: tuple[tuple[int, int], ...] = self.__dict__["_places"]
        return tuple(DataComparison(number, *place, ()) for number, place in enumerate(places))


def one_sided(program: LabProgram, *noted: str) -> list[tuple[int, int, str]]:
    outcomes = Outcomes()
    for digits in noted:
        outcomes.note(program, digits)
    return [(row.line, row.column, row.text) for row in outcomes.one_sided(program, SOURCE)]


THREE = Compared("p", (2, 17), (1, 5), (2, 7))


def test_a_comparison_with_one_outcome_is_told_with_its_line_in_the_order_of_the_source() -> None:
    second = "if (x < 2.0f && x > 1.0f) y = 2;"
    assert one_sided(THREE, "121") == [(1, 5, "if (x > 3.0f) y = 1;"), (2, 7, second), (2, 17, second)]


def test_outcomes_of_all_executions_count_and_what_was_never_reached_is_not_told() -> None:
    assert one_sided(THREE, "120", "200") == [(1, 5, "if (x > 3.0f) y = 1;")]
    assert one_sided(THREE, "303") == [] == one_sided(THREE, "000") == one_sided(THREE) == one_sided(THREE, "")
    assert [place[:2] for place in one_sided(THREE, "1", "01")] == [(1, 5), (2, 17)]


def test_all_instructions_of_one_place_count_together() -> None:
    assert one_sided(Compared("q", (1, 5), (1, 5)), "12") == []
    assert len(one_sided(Compared("q", (1, 5), (1, 5)), "11")) == 1


def test_what_a_builtin_compares_inside_is_not_told() -> None:
    assert one_sided(Compared("r", (3, 5)), "1") == []
    assert [place[:2] for place in one_sided(Compared("r", (3, 1), (9, 1)), "12")] == [(3, 1), (9, 1)]


def test_programs_are_told_apart() -> None:
    outcomes, first, other = Outcomes(), Compared("a", (1, 5)), Compared("b", (1, 5))
    outcomes.note(first, "1")
    assert len(outcomes.one_sided(first, SOURCE)) == 1 and outcomes.one_sided(other, SOURCE) == ()
