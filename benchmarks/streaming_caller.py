"""A program that streams a run from Python, in a task that it cancels when a line comes in."""

from __future__ import annotations

import asyncio
import contextlib
import sys

from kernel_scientist import astream


async def _streamed(task: str) -> None:
    async for event in astream(task, on="lab", author="llm", generations=50):
        print(type(event).__name__, flush=True)


async def _main() -> None:
    work = asyncio.ensure_future(_streamed(sys.argv[1]))
    line = asyncio.ensure_future(asyncio.to_thread(sys.stdin.readline))
    await asyncio.wait({work, line}, return_when=asyncio.FIRST_COMPLETED)
    work.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await work


if __name__ == "__main__":
    asyncio.run(_main())
