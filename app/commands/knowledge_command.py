"""`knowledge`: Add to, list and search the literature that the agents read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import TYPE_CHECKING, Annotated

import typer

from app.commands.options import Json
from app.screen import emit, note, say, table
from records.errors import UsageError
from records.quantity import counted

if TYPE_CHECKING:
    from documents.document_files import DocumentFile
    from knowledge.intake import Added
    from knowledge.passage_use import UseRow
    from knowledge.store import KnowledgeStore

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="The literature the scientists read.")
WIDTH, NAME_WIDTH = 400, 80  # characters of a passage, and of a title or a heading, shown at a terminal


@app.command()
def add(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH...", help="Files, folders, patterns, or addresses of pages.", show_default=False),
    ],
    title: Annotated[str, typer.Option("--title", help="Title of the one document.", show_default=False)] = "",
    source: Annotated[str, typer.Option("--source", help="What to cite.", show_default=False)] = "",
    licence: Annotated[str, typer.Option("--licence", help="Licence of the documents.", show_default=False)] = "",
    arch: Annotated[str, typer.Option("--arch", help="GPUs they are for: gfx942 or mi300x.", show_default=False)] = "",
    json: Json = False,
) -> None:
    """Add documents; the same content again changes nothing."""
    from app.own_embedder import buy
    from documents.document import Citation
    from documents.page_download import is_address

    store = _store()
    with TemporaryDirectory(prefix="kernel-scientist-") as folder:
        sources = [_fetched(path, Path(folder)) if is_address(path) else path for path in paths]
        added = store.add(sources, Citation(title, source, licence, arch), report=None if json else _progress())
    buy(store, is_asked=False)
    if json:
        emit([{"id": a.id, "title": a.title, "chunks": a.chunks, "status": a.status, "why": a.why} for a in added])
    elif len(added) > 1:
        counts = Counter(a.status for a in added)
        say(", ".join(f"{counts[status]} {status}" for status in sorted(counts)))
    elif added[0].status == "unchanged":
        _say_added(added[0])


def _fetched(address: str, folder: Path) -> DocumentFile:
    from app.settings import load_settings
    from documents.document_files import DocumentFile
    from documents.page_download import download

    hosts = [host.strip().lower() for host in load_settings().fetch_hosts.split(",") if host.strip()]
    path = download(address, hosts, Path(mkdtemp(dir=folder)))
    note(f"fetched   {address}")
    return DocumentFile(str(path), address, address=address)


def _progress() -> Callable[[Added], None]:
    """Print a line for each document that changes; of a skipped single one only the error speaks, which follows."""
    first: list[Added] = []
    is_alone = True

    def report(added: Added) -> None:
        nonlocal is_alone
        if is_alone and not first and added.status == "skipped":
            first.append(added)
            return
        is_alone = False
        for document in (*first, added):
            if document.status != "unchanged":
                _say_added(document)
        first.clear()

    return report


def _say_added(added: Added) -> None:
    if added.status == "skipped":
        note(f"skipped   {added.why}")
    else:
        say(f"{added.status:9} {added.id}  {_clipped(added.title)} ({counted(added.chunks, 'passage')})")


@app.command("list")
def list_(
    mine: Annotated[bool, typer.Option("--mine", help="Leave out the shipped notes.")] = False, json: Json = False
) -> None:
    """List the documents."""
    documents = _store(shipped=True).documents(mine)
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
                    "place": d.uri,
                }
                for d in documents
            ]
        )
        return
    table(
        ["id", "title", "passages", "for", "licence", "place"],
        [[d.id, _clipped(d.title), str(d.chunks), d.arch or "any GPU", _clipped(d.licence), d.uri] for d in documents],
        right=[2],
    )


@app.command()
def remove(
    document_id: Annotated[
        str,
        typer.Argument(
            metavar="ID|PATTERN",
            help="A document's id or the beginning of one; or a pattern of the places it was read from.",
            show_default=False,
        ),
    ],
    json: Json = False,
) -> None:
    """Take documents out."""
    documents = _store(shipped=True).remove(document_id)
    if json:
        emit([{"id": d.id, "title": d.title} for d in documents])
    else:
        for document in documents:
            say(f"removed {document.id}  {_clipped(document.title)}")


@app.command()
def check(json: Json = False) -> None:
    """Look for faults of the store; exit 1 where there is one."""
    problems = _store().check()
    if json:
        emit(problems)
    else:
        say("\n".join(problems) or "the knowledge store is sound")
    if problems:
        raise typer.Exit(1)


@app.command()
def rebuild(json: Json = False) -> None:
    """Make passages again from the stored documents, and buy the vectors that are missing."""
    from app.own_embedder import buy

    store = _store(shipped=True)
    count = store.rebuild()
    buy(store, is_asked=True)
    if json:
        emit({"passages": count})
    else:
        say(counted(count, "passage"))


@app.command()
def search(
    query: Annotated[
        str,
        typer.Argument(metavar="QUERY", help="What to look for, in words or instruction names.", show_default=False),
    ],
    k: Annotated[int, typer.Option("-k", min=1, help="How many passages.")] = 5,
    arch: Annotated[
        str | None, typer.Option("--arch", help="Leave out what is for other GPUs: mi300x.", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """Search the documents; exit 1 where nothing is found."""
    hits = _store(shipped=True).search(query, k, arch)
    if json:
        fields = ("score", "passage", "document", "title", "section", "text", "source", "licence")
        emit([{name: getattr(h, name) for name in fields} for h in hits])
    for number, hit in enumerate([] if json else hits, 1):
        text = _clipped(" ".join(hit.text.split()), WIDTH)
        say(f"{number}. {_section_title(hit.title, hit.section)}\n   {text}\n   {_clipped(hit.source, WIDTH)}")
    if not hits:
        if not json:
            say("nothing was found")
        raise typer.Exit(1)


@app.command()
def stats(
    use: Annotated[bool, typer.Option("--use", help="What became of experiments that read each document.")] = False,
    passages: Annotated[bool, typer.Option("--passages", help="With --use: a row for each passage.")] = False,
    json: Json = False,
) -> None:
    """Count documents and passages, or show their use in the runs of this folder."""
    if passages and not use:
        raise UsageError("--passages says how finely --use is shown; give both")
    if not use:
        documents = _store(shipped=True).documents()
        mine = [d for d in documents if not d.uri.startswith("shipped:")]
        counts = {"documents": len(documents), "mine": len(mine), "passages": sum(d.chunks for d in documents)}
        emit(counts) if json else say(", ".join(f"{count} {name}" for name, count in counts.items()))
        return
    from app.settings import load_settings
    from app.wiring import open_records
    from knowledge.passage_use import all_uses, by_document, by_passage, together

    ledger, _ = open_records(load_settings(), create=False)
    with ledger:
        uses = all_uses(ledger)
    rows = by_passage(uses) if passages else by_document(uses)
    if json:
        emit([row.plain for row in rows])
        return
    if not rows:
        say("no experiment has read a passage yet: the playbook reads none; a model does (`run --author llm`)")
        return
    total = together(uses)
    table(
        ["id", "title", "experiments", "cited", "accepted", "gain, %", "repaired"],
        [
            [r.key, _section_title(r.title, r.section), str(r.experiments), str(r.cited),
             r.accepted.text, _gain(r), r.repaired.text]
            for r in [*rows, *([total] if total else [])]
        ],
        right=[2, 3],
    )  # fmt: skip
    say("In brackets: 95 % intervals; a row differs from the rest where its own leaves out the last row's share.")
    say("Gain: of accepted experiments, over the parent. Repaired: drafts that got further after a repair had read it.")


def _clipped(text: str, most: int = NAME_WIDTH) -> str:
    return text if len(text) <= most else text[:most] + "…"


def _section_title(title: str, section: str) -> str:
    inside = section.removeprefix(title).removeprefix(" > ")
    return f"{_clipped(title)}: {_clipped(inside)}" if inside else _clipped(title)


def _gain(row: UseRow) -> str:
    if row.gain_pct is not None:
        return row.gain_pct.text
    return f"{row.gains_pct[0]:+.2f}" if row.gains_pct else "-"


def _store(shipped: bool = False) -> KnowledgeStore:
    """Open the store of the settings, with the shipped notes where they are asked for."""
    from app.configured_store import make_store
    from app.settings import load_settings

    store = make_store(load_settings())
    if shipped:
        store.ensure_shipped()
    return store
