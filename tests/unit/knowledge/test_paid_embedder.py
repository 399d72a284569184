"""What a run's queries cost: in its ledger, in its budget, and never twice."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from knowledge.embedder import EmbedderError, EndpointEmbedder
from knowledge.paid_embedder import ROLE, PaidEmbedder
from records.allowance import Allowance
from records.artefacts import ArtefactStore
from records.experiment import Run
from records.ledger import Ledger
from tests.support.embedding_endpoint import EmbeddingEndpoint

USD_PER_TOKEN = 0.01


def paid(server: EmbeddingEndpoint, ledger: Ledger, folder: Path, budget_usd: float = 1.0) -> PaidEmbedder:
    ledger.add_run(Run("run-1", "task", "mi300x", "lab", "llm", 7))
    embedder = EndpointEmbedder(server.address, "tiny", "key", retries=0)
    return PaidEmbedder(
        embedder, "run-1", ledger, ArtefactStore(folder, ledger), USD_PER_TOKEN, lambda: Allowance(budget_usd)
    )


@pytest.mark.parametrize(("counts", "tokens"), [(True, 8), (False, 8 + 2 * 2)])
def test_a_request_is_paid_once_and_found_again(tmp_path: Path, counts: bool, tokens: int) -> None:
    with Ledger(tmp_path / "ledger.db") as ledger, EmbeddingEndpoint(counts) as server:
        first = paid(server, ledger, tmp_path / "a").embed(["what", "stop"])
        again = paid(server, ledger, tmp_path / "a").embed(["what", "stop"])  # as a resumed run asks
        assert np.array_equal(first, [[3.0, 4.0]] * 2) and np.array_equal(first, again)
        assert server.asked == [["what", "stop"]]
        [call] = ledger.calls("run-1")
        assert (call.role, call.model, call.usage.prompt_tokens) == (ROLE, "tiny", tokens)
        assert ledger.spend("run-1").usd == pytest.approx(tokens * USD_PER_TOKEN)


def test_without_money_nothing_is_asked(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.db") as ledger, EmbeddingEndpoint() as server:
        with pytest.raises(EmbedderError, match="--budget-usd"):
            paid(server, ledger, tmp_path / "a", budget_usd=0.02).embed(["what"])
        assert server.asked == [] and ledger.spend("run-1").usd == 0.0


def test_a_failure_costs_nothing(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.db") as ledger, EmbeddingEndpoint() as server:
        with pytest.raises(EmbedderError):
            paid(server, ledger, tmp_path / "a").embed(["bad"])
        spend = ledger.spend("run-1")
        assert (spend.calls, spend.usd, spend.reserved_usd) == (0, 0.0, 0.0)
