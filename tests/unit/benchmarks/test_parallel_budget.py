"""Callers in parallel on one budget never exceed it, and use it where there is work."""

from __future__ import annotations

import pytest

from benchmarks.parallel_budget import spent


@pytest.mark.slow
def test_a_budget_is_used_and_never_exceeded() -> None:
    whole = spent(1e9, questions=4)
    assert whole.requests == 32 * 4
    for share in (0.0, 0.15, 0.5):
        made = spent(share * whole.ledger_usd, questions=4)
        assert made.billed_usd == pytest.approx(made.ledger_usd)
        assert made.ledger_usd <= made.budget_usd + 1e-9
        assert made.ledger_usd >= 0.9 * made.budget_usd
        assert bool(made.requests) == bool(share)
