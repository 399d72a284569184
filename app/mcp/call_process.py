"""One call of a tool that compiles or executes: a process of its own, which ends with the call or its client."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import Process

from records.errors import MachineError, UsageError
from records.outside_text import decoded

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = "import sys; sys.path.insert(0, sys.argv.pop(1)); from app.mcp.kernel_calls import main; main()"
MOST_BYTES = 4 << 20  # of an answer
GRACE_S = 1.5  # to end the programs that a call has started


async def answer_of(request: dict[str, Any]) -> dict[str, Any]:
    """Answer a call; UsageError or MachineError in a sentence. Cancelling it ends its process."""
    process = await anyio.open_process(
        [sys.executable, "-P", "-c", PROGRAM, str(ROOT)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=None,
        start_new_session=True,
    )
    try:
        assert process.stdin is not None and process.stdout is not None
        await process.stdin.send(json.dumps(request).encode() + b"\n")
        output = b""
        async for part in process.stdout:
            output += part
            if len(output) > MOST_BYTES:
                raise MachineError("the answer of a tool is larger than it may be; please report this")
    finally:
        with anyio.CancelScope(shield=True):
            await _ended(process)
    if not output.endswith(b"\n"):
        raise MachineError("the process of a tool ended without an answer; the server's log says more, try again")
    answer: dict[str, Any] = decoded(output)
    if "refused" in answer:
        raise UsageError(answer["refused"])
    return dict(answer["answer"])


async def _ended(process: Process) -> None:
    """Wait for the process, which ends its own programs when its input does; end it where it does not end."""
    assert process.stdin is not None
    await process.stdin.aclose()
    with anyio.move_on_after(GRACE_S):
        await process.wait()
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # its own session's
        await process.wait()
    await process.aclose()
