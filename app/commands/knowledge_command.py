"""`knowledge`: the literature the scientists read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.commands.options import Json
from app.screen import emit, say, table
from records.quantity import counted

if TYPE_CHECKING:
    from knowledge.store import KnowledgeStore

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="The literature the scientists read.")
WIDTH = 400  # characters of a passage shown at a terminal


@app.command()
def add(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH...", help="Text and Markdown files, or folders of them.", show_default=False),
    ],
    json: Json = False,
) -> None:
    """Add documents; the same content again changes nothing."""
    found = _store().add(paths)
    if json:
        emit([{"id": a.id, "title": a.title, "chunks": a.chunks, "status": a.status} for a in found])
        return
    for added in found:
        say(f"{added.status:9} {added.id}  {added.title} ({counted(added.chunks, 'passage')})")


@app.command("list")
def list_(json: Json = False) -> None:
    """List the documents."""
    documents = _store(shipped=True).documents()
    if json:
        emit(
            [
                {
                    "id": d.id,
                    "title": d.title,
                    "source": d.source,
                    "licence": d.licence,
                    "arch": d.arch,
                    "tags": list(d.tags),
                    "chunks": d.chunks,
                    "added_at": d.added_at,
                }
                for d in documents
            ]
        )
        return
    table(
        ["id", "title", "passages", "for", "licence"],
        [[d.id, d.title, str(d.chunks), d.arch or "any GPU", d.licence] for d in documents],
        right=[2],
    )


@app.command()
def remove(
    identity: Annotated[
        str, typer.Argument(metavar="ID", help="A document's id or the beginning of one.", show_default=False)
    ],
    json: Json = False,
) -> None:
    """Take a document out."""
    document = _store(shipped=True).remove(identity)
    if json:
        emit({"id": document.id, "title": document.title})
    else:
        say(f"removed {document.id}  {document.title}")


@app.command()
def search(
    query: Annotated[
        str,
        typer.Argument(metavar="QUERY", help="What to look for, in words or instruction names.", show_default=False),
    ],
    k: Annotated[int, typer.Option("-k", min=1, help="How many passages.")] = 5,
    arch: Annotated[
        str | None, typer.Option("--arch", help="Leave out what is for other GPUs: gfx942.", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """Search the documents; exit 1 where nothing is found."""
    hits = _store(shipped=True).search(query, k, arch)
    if json:
        emit(
            [
                {
                    "score": h.score,
                    "document": h.document,
                    "title": h.title,
                    "section": h.section,
                    "text": h.text,
                    "source": h.source,
                    "licence": h.licence,
                }
                for h in hits
            ]
        )
    for number, hit in enumerate([] if json else hits, 1):
        text = " ".join(hit.text.split())
        text = text if len(text) <= WIDTH else text[:WIDTH] + "…"
        place = hit.section.removeprefix(hit.title).removeprefix(" > ")
        say(f"{number}. {hit.title}{place and ': '}{place}\n   {text}\n   {hit.source}")
    if not hits:
        if not json:
            say("nothing was found")
        raise typer.Exit(1)


def _store(shipped: bool = False) -> KnowledgeStore:
    """The store of the settings, with the shipped notes where they are asked for."""
    from app.settings import load_settings
    from knowledge.store import KnowledgeStore

    store = KnowledgeStore(load_settings().knowledge)
    if shipped:
        store.ensure_shipped()
    return store
