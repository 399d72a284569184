from __future__ import annotations

import pytest

from agents.playbook.changes import NEEDS
from app.mcp.advice import RESOURCES as ADVICE
from app.mcp.advice import STALLS
from graph.queries import _BOUNDS as QUERIES
from records.resources import RESOURCES
from sandbox.lab.cost.explanation import _TITLES as TITLES
from sandbox.lab.cost.explanation import WAITS


@pytest.mark.parametrize("table", [NEEDS, ADVICE, QUERIES, TITLES], ids=["moves", "advice", "queries", "titles"])
def test_every_table_by_resource_has_those_that_a_forecast_names(table: dict[str, object]) -> None:
    assert set(table) == set(RESOURCES)


def test_every_cause_of_a_wait_has_advice() -> None:
    assert set(WAITS) - set(ADVICE) - set(STALLS) == set()
    assert set(ADVICE) & set(STALLS) == set()
