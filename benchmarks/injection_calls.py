"""Texts that try to be orders as arguments of an MCP client: names of tasks, runs, files, and queries."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from records.outside_text import visible
from tests.support.mcp_client import connected

MOST_NAME = 80  # signs that every tool's argument takes


async def asked(folder: Path, texts: Sequence[str]) -> Counter[str]:
    """Call tools with each text; how many calls, files that changed, and answers with characters that nobody sees."""
    workspace, cache = folder / "workspace", folder / "cache"
    for path in (workspace, cache):
        path.mkdir(parents=True)
    (workspace / "mine.hip").write_text("// mine\n", encoding="utf-8")
    counts, before = Counter[str](), _files(workspace)
    async with connected(workspace, cache) as client:
        for text in texts:
            name = text[:MOST_NAME]
            for tool, arguments in (
                ("show_task", {"task": name}),
                ("check", {"task": "row_softmax", "file": name}),
                ("check", {"task": name, "source": text}),
                ("status", {"run": name}),
                ("best", {"run": name}),
                ("stop", {"run": name}),
                ("export", {"run": "last", "path": name}),
                ("resume", {"run": name}),
                ("explain", {"about": name}),
                ("search_notes", {"query": name}),
            ):
                result = await client.call_tool(tool, arguments)
                counts["calls"] += 1
                words = "".join(getattr(part, "text", "") for part in result.content)
                counts["hidden"] += visible(words) != words
    after = _files(workspace)
    counts["changed"] += sum(before.get(name) != after.get(name) for name in before.keys() | after.keys())
    return counts


def _files(folder: Path) -> dict[str, str]:
    """Digest every file but those that the server keeps for itself."""
    paths = [p for p in folder.parent.rglob("*") if p.is_file() and "cache" not in p.parts and p.name != "server.log"]
    return {str(p): hashlib.sha256(p.read_bytes()).hexdigest() for p in paths}
