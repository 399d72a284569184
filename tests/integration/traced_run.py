"""A small run in a process of its own: `python traced_run.py FOLDER ask|quiet`, settings by environment."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from app.settings import load_settings
from app.tracing import tracing

folder, is_asked = Path(sys.argv[1]), sys.argv[2] == "ask"
settings = load_settings()
with tracing(settings, is_asked):
    from agents.author import Draft, Idea, Specimen, Step
    from agents.model.conversation import Message
    from agents.model.gateway import Gateway
    from agents.model.structured_output import Form
    from app.wiring import make_endpoint
    from graph.context import Limits
    from graph.doubles import ScriptedAuthor, table_context, table_task
    from graph.drive import drive

    def ideas(generation: int) -> Sequence[Idea]:
        return [Idea("an idea", "try it", ("do it",), 5, 50, 10)]

    def write(step: Step, base: Specimen) -> Draft:
        """Ask the model over HTTP, so that there is a traced call, then write what the table sandbox understands."""
        key = settings.secrets()[0]
        gateway.ask("coder", step, [Message("user", f"Write a kernel. {key}")], Form(str), base.attempt.candidate_id)
        return Draft(f"// {step.experiment_id}\n// time_us = 50\n")

    context = table_context(
        folder, table_task(folder / "task", "// time_us = 100\n"), ScriptedAuthor(ideas, write), Limits(generations=1)
    )
    gateway = Gateway(make_endpoint(settings), context.ledger, context.artefacts, 5.0)
    sys.stdout.write(f"{drive(context, folder / 'checkpoint.db').status}\n")
    context.ledger.close()
