"""`preferences`: Write pairs of a run's kernels of which one is certainly better."""

from __future__ import annotations

import json as plain_json
from pathlib import Path
from typing import Annotated

import typer

from app.commands.options import Json, RunId
from app.screen import emit, say


def command(
    run_id: RunId,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where the pairs go.")] = Path("preferences.jsonl"),
    json: Json = False,
) -> None:
    """Export pairs of kernels with one parent, the better one first, where the difference is certain."""
    from app.settings import load_settings
    from app.wiring import find_run, open_records
    from records.files import write_whole
    from records.preference_pairs import preferences

    ledger, artefacts = open_records(load_settings(), create=False)
    with ledger:
        run = find_run(ledger, run_id)
        attempts = ledger.attempts(run.id)
        evaluations = {a.evaluation_key: e for a in attempts if (e := ledger.evaluation(a.evaluation_key))}
        rows = [
            {
                "task": run.task,
                "target": run.target,
                "parent": pair.better.parent_id,
                "better": pair.better.id,
                "worse": pair.worse.id,
                "reason": pair.reason,
                "gain_pct": pair.gain_pct,
                "better_source": artefacts.text(pair.better.source),
                "worse_source": artefacts.text(pair.worse.source),
            }
            for pair in preferences(attempts, evaluations)
        ]
        text = "".join(f"{plain_json.dumps(row)}\n" for row in rows)
    write_whole(out, text.encode(), is_public=True)
    if json:
        emit({"run_id": run.id, "pairs": len(rows), "path": str(out)})
        return
    say(f"{len(rows)} pairs of run {run.id} in {out}")
