"""The import's own process: reads request.json in its folder, writes task-0 and result-0.json there, and so on."""

from __future__ import annotations

import json
import os
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from records.toml_process import read_toml_here

if TYPE_CHECKING:
    from imports.route import Route

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
        from imports.import_source import asks_for_torch
        from imports.making import ImportRequest, make
        from imports.refusal import FAULTS, ImportRefused
        from tasks.origin import Origin

        fields = dict(request)
        is_golden = bool(fields.pop("golden", False))
        source: dict[str, Any] = dict(fields.pop("source"))  # type: ignore[call-overload]
        is_torch = asks_for_torch(source.get("kind", "file"), source["text"])
        route = _torch_route(source, is_golden) if is_torch else _numpy_route(source)
    except (ImportError, OSError) as error:
        return {"broken": f"{type(error).__name__}: {error}"[:MOST_SENTENCE]}
    origin, gate = fields.pop("origin"), fields.pop("gate")
    import_request = ImportRequest(
        route=route,
        origin=Origin(**origin),  # type: ignore[arg-type]
        gate=tuple(gate) if gate else None,  # type: ignore[arg-type]
        **fields,  # type: ignore[arg-type]
    )
    try:
        if is_golden and is_torch:
            from imports.golden_making import make_golden

            outcome = make_golden(import_request, folder)
        else:
            outcome = make(import_request, folder)
    except ImportRefused as error:
        return {"refused": " ".join(str(error).split())[:MOST_SENTENCE]}
    except (*FAULTS, SystemExit, KeyboardInterrupt, StopIteration, RecursionError) as error:
        return {"refused": f"it does not run: {' '.join(f'{type(error).__name__}: {error}'.split())}"[:MOST_SENTENCE]}
    spared = ["--golden is left out: a NumPy function is executed as it is"] if is_golden and not is_torch else []
    return {
        "notes": [*spared, *outcome.notes],
        "has_seed": outcome.has_seed,
        "arguments": list(outcome.arguments),
        "others": dict(outcome.other_sizes),
    }


def _torch_route(source: dict[str, Any], is_golden: bool) -> Route:
    from imports.eager import run_eagerly
    from imports.recurrent import step_by_step
    from imports.source_kinds import SOURCES
    from imports.torch_route import TorchRoute

    run_eagerly()
    if not is_golden:
        step_by_step()
    kind = SOURCES[source.pop("kind", "file")]
    return TorchRoute(kind(specs=_specs(source), **source))


def _numpy_route(source: dict[str, Any]) -> Route:
    from imports.numpy_route import NumpyRoute
    from imports.numpy_source import NumpySource

    source.pop("kind", "file")
    return NumpyRoute(NumpySource(specs=_specs(source), **source))


def _specs(source: dict[str, Any]) -> dict[str, tuple[str, tuple[str, ...], str]]:
    return {n: (spec[0], tuple(spec[1]), spec[2]) for n, spec in source.pop("specs").items()}


if __name__ == "__main__":
    main()
