"""The answer of a served run: its result in typed fields, and the same in words for a chat."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.asked_in_words import ANSWERED
from app.exporting import kernel_of_run
from app.optimising import own_files
from app.outcome import headline_rows
from graph.served_fields import BLANK, RunOutput
from records.codec import to_plain
from records.errors import UsageError
from records.quantity import given

if TYPE_CHECKING:
    from app.session import RunResult
    from app.settings import Settings
    from graph.context import Context

FENCES = {".py": "python", ".cu": "cuda"}  # of the others hip


def answer_of(settings: Settings, context: Context, result: RunResult) -> dict[str, Any]:
    """Return the fields of the output; without a verified kernel the blank ones."""
    from langchain_core.messages import AIMessage

    run, best, line = context.ledger.run(context.run.id), result.best, result.headline
    output: RunOutput = {**BLANK, "run_id": run.id, "generation": result.generations, "stop": run.stop_reason}
    output |= {"result": to_plain(result), "headline": line.text, "advice": line.advice}
    attempt = context.ledger.attempt(run.id, best.id) if best is not None else None
    if best is not None and attempt is not None:
        output |= {
            "gain": given(line.gain, 0.0),
            "best_id": best.id,
            "best_us": best.geomean_us,
            "time_kind": attempt.time_kind or "",  # type: ignore[typeddict-item]
            "best_source": context.artefacts.text(attempt.source),
            "change": line.change,
            "diff": Path(result.diff).read_text(encoding="utf-8") if result.diff else "",
            "roofline": given(line.roofline, 0.0),
            "bounds": list(line.bounds),
            **_own_form(settings, run.id),
        }
    answer = AIMessage(_words(output, result), id=f"result-{run.id}", additional_kwargs={ANSWERED: run.id})
    return {**output, "messages": [answer]}


def _own_form(settings: Settings, run_id: str) -> RunOutput:
    """Return the files in the form of what was brought, by their names; not the data that a self-check reads."""
    try:
        result = own_files(settings, kernel_of_run(settings, run_id), Path())
    except UsageError:  # of a kernel that no launcher can be written for
        return {}
    texts = {str(path): content.decode("utf-8") for path, content in result.files.items() if _is_text(content)}
    return {"files": texts, "main_file": str(result.path)}


def _words(output: RunOutput, result: RunResult) -> str:
    rows = [text for _, text in headline_rows(result.headline)]
    rows.append(f"The run is {output['run_id']}: {output['stop']}.")
    name = output["main_file"] or "best.hip"
    text = output["files"].get(output["main_file"], output["best_source"])
    if text:
        rows.append(f"{name}:\n\n```{FENCES.get(Path(name).suffix, 'hip')}\n{text.rstrip()}\n```")
    return "\n\n".join(rows)


def _is_text(content: bytes) -> bool:
    try:
        return "\0" not in content.decode("utf-8")
    except UnicodeDecodeError:
        return False
