from __future__ import annotations

import math
from typing import Any

import pytest

from app.report import tell
from app.report.drawing import draw_curve, draw_tree, format_us, ticks


def a_run(notebook: Any) -> Any:
    notebook.start()
    notebook.attempt(0, 0, 20.0)
    notebook.attempt(1, 0, 10.0, "g000-e0-a0")
    notebook.attempt(1, 1, None, "g000-e0-a0")
    notebook.attempt(2, 0, 5.0, "g001-e0-a0")
    notebook.attempt(2, 1, 40.0, "g001-e0-a0")
    return tell(notebook.ledger, notebook.artefacts, notebook.run.id)


def test_the_curve_falls_with_the_records_and_keeps_within_its_frame(notebook: Any) -> None:
    curve = draw_curve(a_run(notebook))
    assert curve is not None
    by_id = {m.row.attempt.id: m for m in curve.marks}
    assert by_id["g000-e0-a0"].y < by_id["g001-e0-a0"].y < by_id["g002-e0-a0"].y  # down the page is faster
    assert by_id["g002-e1-a0"].y < by_id["g000-e0-a0"].y
    assert [m.state for m in curve.marks] == ["record", "record", "rejected", "best", "accepted"]
    assert by_id["g001-e1-a0"].y == curve.bottom
    assert all(curve.left <= m.x <= curve.right and curve.top <= m.y <= curve.bottom for m in curve.marks)
    assert curve.roofline_y is not None
    assert by_id["g002-e0-a0"].y < curve.roofline_y <= curve.bottom
    assert curve.line.count("V") == 2


def test_the_tree_joins_each_attempt_to_its_parent_and_marks_the_descent(notebook: Any) -> None:
    tree = draw_tree(a_run(notebook))
    assert len(tree.edges) == 4
    assert sum(e.on_best for e in tree.edges) == 2
    assert len({(m.x, m.y) for m in tree.marks}) == len(tree.marks)
    assert max(m.y for m in tree.marks) < tree.height
    assert [t.text for t in tree.columns] == ["seeds", "generation 1", "generation 2"]


def test_a_long_line_of_descent_needs_no_recursion(notebook: Any) -> None:
    notebook.start()
    parent = notebook.attempt(0, 0, 2000.0).id
    for generation in range(1, 60):
        parent = notebook.attempt(generation, 0, 2000.0 - generation, parent).id
    tree = draw_tree(tell(notebook.ledger, notebook.artefacts, notebook.run.id))
    assert len({m.y for m in tree.marks}) == 1


@pytest.mark.parametrize(("low", "high"), [(1.0, 3.0), (0.0, 0.3), (2.0, 2.02), (1.69, 1.71), (-3.0, 4.0)])
def test_ticks_are_few_ordered_and_within(low: float, high: float) -> None:
    found = ticks(low, high)
    assert 2 <= len(found) <= 16
    assert found == sorted(found)
    assert all(low - 1e-9 <= math.log10(v) <= high + 1e-9 for v in found)


@pytest.mark.parametrize(
    ("time_us", "text"),
    [
        (None, "–"),
        (0.0, "0 µs"),
        (0.01234, "0.0123 µs"),
        (1.0, "1.00 µs"),
        (12.34, "12.3 µs"),
        (456.7, "457 µs"),
        (1500.0, "1.50 ms"),
        (2.5e6, "2.50 s"),
    ],
)
def test_times_have_three_digits_and_a_unit(time_us: float | None, text: str) -> None:
    assert format_us(time_us) == text
