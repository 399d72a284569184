"""`mcp`: Serve the tools for coding agents, over the Model Context Protocol."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from app.screen import note
from records.errors import SettingsError


def command(
    workspace: Annotated[
        Path, typer.Option("--workspace", metavar="DIR", help="The one folder whose files tools may read and write.")
    ] = Path(),
    budget_usd: Annotated[
        float, typer.Option("--budget-usd", min=0, help="Most that one run may spend on a model; 0: no model.")
    ] = 0.0,
    runs: Annotated[int, typer.Option("--runs", min=1, help="Runs that may be at work at once.")] = 1,
) -> None:
    """Serve one client on standard input and output; a coding agent starts this command itself."""
    if find_spec("mcp") is None:
        raise SettingsError(
            "the server for coding agents needs the package mcp; install the extra: pip install -e '.[mcp]'"
        )
    from app.mcp.tool_server import serve
    from app.settings import load_settings

    settings = load_settings()
    note("kernel-scientist mcp: serving on standard input and output")
    serve(settings, workspace.absolute(), budget_usd, runs)
