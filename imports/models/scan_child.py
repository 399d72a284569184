"""The scan's own process: reads request.json in its folder, writes result.json there."""

from __future__ import annotations

import json
import os
import sys
import warnings
from pathlib import Path
from typing import Any

from records.codec import dumps

MOST_SENTENCE = 400


def main() -> None:
    """One model or one trace."""
    warnings.filterwarnings("ignore")
    request = json.loads(Path("request.json").read_text(encoding="utf-8"))
    Path("result.json").write_text(_answer(request), encoding="utf-8")
    sys.stdout.flush()
    os._exit(0)  # nothing that the file left running may speak after this


def _answer(request: dict[str, Any]) -> str:
    from imports.refusal import FAULTS, ImportRefused

    try:
        return dumps({"answer": _read(request)})
    except ImportRefused as error:
        return dumps({"refused": " ".join(str(error).split())[:MOST_SENTENCE]})
    except (*FAULTS, SystemExit, KeyboardInterrupt, StopIteration, RecursionError) as error:
        text = " ".join(f"{type(error).__name__}: {error}".split())[:MOST_SENTENCE]
        return dumps({"refused": f"it cannot be read: {text}"})


def _read(request: dict[str, Any]) -> Any:
    kind = request.pop("kind")
    if kind == "trace":
        from imports.models.trace_reading import read_trace

        return read_trace(Path(request["path"]))
    import logging

    from imports.models.module_tracing import traced_model, traced_program

    logging.disable(logging.CRITICAL)
    if kind == "exported":
        return traced_program(request["path"])
    from imports.eager import run_eagerly
    from imports.models.module_source import ModuleSource

    run_eagerly()
    specs = {n: (spec[0], tuple(spec[1]), spec[2]) for n, spec in request.pop("specs").items()}
    return traced_model(ModuleSource(specs=specs, **request))


if __name__ == "__main__":
    main()
