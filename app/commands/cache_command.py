"""`cache`: Show how large the cache of compiled kernels is, and trim it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from app.commands.options import Json
from app.screen import emit, say
from records.quantity import counted

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Compiled kernels, made again when needed.")
MIB = 1 << 20


@app.command()
def show(json: Json = False) -> None:
    """Say where the cache is, how large it is, and what its bound is."""
    from app.settings import load_settings
    from sandbox.cache import entries

    settings = load_settings()
    cached = list(entries(settings.cache_folder))
    size = sum(entry.bytes for entry in cached)
    if json:
        bound = settings.cache_mib * MIB
        emit({"folder": str(settings.cache_folder), "entries": len(cached), "bytes": size, "most_bytes": bound})
        return
    say(f"{settings.cache_folder}: {counted(len(cached), 'entry', 'entries')}, {size // MIB:,} MiB")
    say(f"bound: {settings.cache_mib:,} MiB (KERNEL_SCIENTIST_CACHE_MIB); kept after a run when nobody else is at work")


@app.command()
def prune(
    mib: Annotated[
        int | None,
        typer.Option("--mib", min=0, help="Keep at most so much; the setting's bound by default.", show_default=False),
    ] = None,
    wait_s: Annotated[float, typer.Option("--wait-s", min=0, help="Wait so long for others to end.")] = 0.0,
    json: Json = False,
) -> None:
    """Remove what was not used for longest; exit 1, and remove nothing, while another process uses the cache."""
    from app.settings import load_settings
    from sandbox.cache import prune as remove

    settings = load_settings()
    pruning = remove(settings.cache_folder, (settings.cache_mib if mib is None else mib) * MIB, wait_s)
    if json:
        emit(asdict(pruning))
    elif not pruning.is_done:
        say("another process uses the cache, or it cannot be locked; nothing was removed, try again when it has ended")
    else:
        removed = counted(pruning.removed, "entry", "entries")
        say(f"removed {removed}, {pruning.removed_bytes // MIB:,} of {pruning.bytes // MIB:,} MiB")
    if not pruning.is_done:
        raise typer.Exit(1)
