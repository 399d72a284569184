"""What an author who read the real prompts and tool results answered at the bench, served again.

One JSON object a line: the role, the title of the experiment where it is about one, the text, and the tool calls.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.bench_run import title_of, writing
from tests.support.endpoint import Answer, Step

DATA = Path(__file__).parents[1] / "data"


class RecordedBench:
    """Answers by role and experiment, each in its order; the calls of a turn as tool calls or as blocks of text."""

    def __init__(self, file: str, tools: str) -> None:
        self._tools = tools
        self.rows = [json.loads(line) for line in (DATA / file).read_text(encoding="utf-8").splitlines()]
        self.coder: list[dict[str, Any]] = []

    def __call__(self, body: dict[str, Any]) -> Step:
        role, title = body["model"], title_of(body)
        turn = sum(m["role"] == "assistant" for m in body["messages"])
        row = [r for r in self.rows if r["role"] == role and r.get("experiment", title) in (title, "")][turn]
        if role == "coder":
            self.coder.append(body)
        if not row["calls"]:
            return Answer(row["text"])
        if self._tools == "calls":
            return Answer(row["text"] or None, "tool_calls", tool_calls=tuple((n, a) for n, a in row["calls"]))
        calls = [writing(name, **arguments) for name, arguments in row["calls"]]
        return Answer("\n\n".join([row["text"], *calls]))
