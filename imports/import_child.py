"""The import's own process: reads request.json in its folder, writes task-0 and result-0.json there, and so on."""

from __future__ import annotations

import json
import os
import sys
import warnings
from pathlib import Path

from records.toml_process import read_toml_here

MOST_SENTENCE = 400


def main() -> None:
    """All requests, one after the other."""
    warnings.filterwarnings("ignore")
    read_toml_here()
    for number, request in enumerate(json.loads(Path("request.json").read_text(encoding="utf-8"))):
        answer = json.dumps(_answer(request, Path(f"task-{number}")))
        Path(f"result-{number}.json").write_text(answer, encoding="utf-8")
    sys.stdout.flush()
    os._exit(0)  # nothing that the file left running may speak after this


def _answer(request: dict[str, object], folder: Path) -> dict[str, object]:
    try:
        from imports.eager import run_eagerly
        from imports.golden_making import make_golden
        from imports.making import ImportRequest, make
        from imports.recurrent import step_by_step
        from imports.refusal import FAULTS, ImportRefused
        from imports.source_kinds import SOURCES
        from tasks.origin import Origin
    except (ImportError, OSError) as error:
        return {"broken": f"{type(error).__name__}: {error}"[:MOST_SENTENCE]}
    run_eagerly()
    fields = dict(request)
    is_golden = fields.pop("golden", False)
    if not is_golden:
        step_by_step()
    source, origin, gate = fields.pop("source"), fields.pop("origin"), fields.pop("gate")
    kind = SOURCES[source.pop("kind", "file")]  # type: ignore[attr-defined]
    specs = {n: (spec[0], tuple(spec[1]), spec[2]) for n, spec in source.pop("specs").items()}  # type: ignore[attr-defined]
    import_request = ImportRequest(
        source=kind(**source, specs=specs),  # type: ignore[arg-type]
        origin=Origin(**origin),  # type: ignore[arg-type]
        gate=tuple(gate) if gate else None,  # type: ignore[arg-type]
        **fields,  # type: ignore[arg-type]
    )
    try:
        outcome = make_golden(import_request, folder) if is_golden else make(import_request, folder)
    except ImportRefused as error:
        return {"refused": " ".join(str(error).split())[:MOST_SENTENCE]}
    except (*FAULTS, SystemExit, KeyboardInterrupt, StopIteration, RecursionError) as error:
        return {"refused": f"it does not run: {' '.join(f'{type(error).__name__}: {error}'.split())}"[:MOST_SENTENCE]}
    return {
        "notes": list(outcome.notes),
        "has_seed": outcome.has_seed,
        "arguments": list(outcome.arguments),
        "others": dict(outcome.other_sizes),
    }


if __name__ == "__main__":
    main()
