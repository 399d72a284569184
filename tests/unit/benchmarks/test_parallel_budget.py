"""Callers in parallel on one budget never exceed it, and use it where there is work."""

from __future__ import annotations

import pytest

from benchmarks.parallel_budget import spent


@pytest.mark.slow
def test_a_budget_is_used_and_never_exceeded() -> None:
    unlimited = spent(1e9, questions=4)
    assert unlimited.requests == 32 * 4
    for share in (0.0, 0.15, 0.5):
        outcome = spent(share * unlimited.ledger_usd, questions=4)
        assert outcome.billed_usd == pytest.approx(outcome.ledger_usd)
        assert outcome.ledger_usd <= outcome.budget_usd + 1e-9
        assert outcome.ledger_usd >= 0.9 * outcome.budget_usd
        assert bool(outcome.requests) == bool(share)
