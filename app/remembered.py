"""Memory over runs at the edge: what a new run is told, kept with it, so that a resumed one asks the same questions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from records.errors import UsageError
from records.quantity import given
from records.redaction import redacted

if TYPE_CHECKING:
    from app.settings import Settings
    from graph.context import StartingKernel
    from records.artefacts import ArtefactStore
    from records.ledger import Ledger
    from tasks.task import Task

MOST_WINNERS = 2  # kernels of earlier runs that generation 0 begins with


def keep_recalled(
    settings: Settings, task: Task, target: str, tokens: int, stores: tuple[Ledger, ArtefactStore], begin_with: bool
) -> Mapping[str, str]:
    """Keep findings of earlier runs as settings of a new one: their lines, and with `begin_with` the kernels that won.

    UsageError where it should begin with a winner and there is none.
    """
    from graph.recall import lines_within, recalled, winners

    ledger, artefacts = stores
    if not tokens:
        if begin_with:
            raise UsageError("--from-memory needs the memory, which --memory 0 switches off")
        return {}
    findings, config = recalled(ledger, task, target), dict[str, str]()
    if lines := lines_within(findings, tokens):
        text = redacted("\n".join(lines), settings.secrets(), str(Path.home()))
        config["recalled"] = artefacts.put(text)
    if begin_with:
        best = sorted(winners(findings, task, target), key=lambda r: given(r.attempt.geomean_us, 0.0))[:MOST_WINNERS]
        if not best:
            raise UsageError(f"no earlier run has a winner for {task.name} on {target}; leave out --from-memory")
        rows = [(f"{r.attempt.id} of run {r.recollection.run_id}", r.attempt.source) for r in best]
        config["remembered"] = json.dumps(rows)
    return config


def keep_weights(ledger: Ledger, artefacts: ArtefactStore) -> Mapping[str, str]:
    """Factors for passages, by what became of experiments that read them, as a setting of a new run."""
    from knowledge.passage_use import all_uses, weights_of

    return {"passage_weights": artefacts.put(json.dumps(weights_of(all_uses(ledger)), sort_keys=True))}


def weights_kept(config: Mapping[str, Any], artefacts: ArtefactStore) -> Mapping[str, float]:
    """Return the factors that a run began with; none where it has no use for them."""
    digest = str(config.get("passage_weights") or "")
    weights: Mapping[str, float] = json.loads(artefacts.text(digest)) if digest else {}
    return weights


def recalled_of(config: Mapping[str, Any], artefacts: ArtefactStore) -> tuple[str, ...]:
    """Return the lines that a run was told when it began."""
    digest = str(config.get("recalled") or "")
    return tuple(artefacts.text(digest).splitlines()) if digest else ()


def winners_of(config: Mapping[str, Any]) -> tuple[StartingKernel, ...]:
    """Return the winners of earlier runs that a run begins with; they are verified again."""
    from graph.context import StartingKernel

    rows = json.loads(str(config.get("remembered") or "[]"))
    return tuple(StartingKernel(f"winner {name}", digest, "memory") for name, digest in rows)
