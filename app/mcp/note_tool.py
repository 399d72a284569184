"""The tool by which a coding agent leaves what it has learnt to those who search the notes later."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any

import anyio.to_thread
from pydantic import Field

from app.mcp.concealing import cleaned
from app.mcp.tool_faults import tool_errors
from app.mcp.tool_results import NoteKept

if TYPE_CHECKING:
    from app.settings import Settings

MOST_NOTE = 20_000  # characters
LICENCE = "written by a coding agent; nobody has verified it"


def note_tool(settings: Settings) -> Callable[..., Awaitable[NoteKept]]:
    """Return the tool."""

    async def add_note(
        title: Annotated[str, Field(min_length=1, max_length=160, description="what it is about; a title replaces it")],
        text: Annotated[
            str, Field(min_length=40, max_length=MOST_NOTE, description="Markdown: what was tried and found")
        ],
        source: Annotated[
            str, Field(max_length=400, description="what it rests on: a run, an attempt, a document")
        ] = "",
        arch: Annotated[str, Field(max_length=40, description="the GPUs that it is for: gfx942")] = "",
    ) -> NoteKept:
        """Add a note to the literature, which search_notes and the authors of later runs find."""

        def add() -> dict[str, Any]:
            from app.configured_store import make_store
            from documents.document import Citation

            plain = cleaned({"title": title, "text": text, "source": source}, settings.secrets(), MOST_NOTE)
            store = make_store(settings)
            citation = Citation(plain["title"], plain["source"] or "a coding agent", LICENCE, arch)
            added = store.add_text(f"note: {plain['title']}", plain["text"], citation)
            return {"id": added.id, "title": added.title, "passages": added.chunks, "status": added.status}

        with tool_errors(settings):
            return NoteKept(**await anyio.to_thread.run_sync(add))

    return add_note
