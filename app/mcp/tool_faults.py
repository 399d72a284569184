"""Faults as a client is told of them: one sentence without keys."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mcp.server.mcpserver.exceptions import ToolError

from records.errors import ScientistError
from records.redaction import redacted

if TYPE_CHECKING:
    from app.settings import Settings


@contextlib.contextmanager
def tool_errors(settings: Settings) -> Iterator[None]:
    """Turn a fault of ours into one of the tool."""
    try:
        yield
    except ScientistError as error:
        raise ToolError(redacted(" ".join(str(error).split()), settings.secrets(), str(Path.home()))) from None
