"""`serve`: Serve the live page of all runs."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated

import typer

from records.errors import SettingsError

NEEDS = ("starlette", "uvicorn")


def command(
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Where to listen; 0 takes any free port.")
    ] = 8410,
    host: Annotated[
        str,
        typer.Option(
            "--host", metavar="ADDRESS", help="The address to listen on; other machines cannot reach the default."
        ),
    ] = "127.0.0.1",
    opens: Annotated[bool, typer.Option("--open", help="Open it in the browser of this machine.")] = False,
) -> None:
    """Show all runs in a browser, live and for reading only, until Ctrl-C. The address carries a token."""
    missing = [name for name in NEEDS if find_spec(name) is None]
    if missing:
        raise SettingsError(
            f"the live page needs {' and '.join(missing)}, of the extra `page`: install it with "
            "`.venv/bin/python -m pip install -e '.[page]'`; `report` writes the same page without it"
        )
    from app.live_page import serve
    from app.settings import load_settings

    serve(load_settings(), host, port, opens)
