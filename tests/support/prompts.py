"""The prompts of every role on one task, rendered as the scientist sends them: for their sizes and the golden copies.

python -m tests.support.prompts            sizes in tokens, four bytes each, by role and task
python -m tests.support.prompts refresh    the golden copies in tests/data/prompts become those of today
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from agents.author import Assignment, Draft, Memory, Room
from agents.model.conversation import Message
from agents.scientist.react import most_turns
from agents.scientist.templates import conversation
from agents.scientist.toolbox import CALL, TOOLS, described
from agents.scientist.views import idea_view, specimen_view, work_view
from records.literature import BYTES_A_TOKEN, Quotation
from tasks.loader import load_task
from tests.support.endpoint import ScriptedEndpoint
from tests.support.scripted_scientist import DRAFT, EXPERIMENT, PEOPLE, STEP, Bench, proposal, seed, selection
from tests.support.specimens import TASKS, assignment, compiled, failed, idea, specimen

GOLDEN = Path(__file__).parents[1] / "data" / "prompts"
GOLDEN_TASK = "row_softmax"
RECALLED = (
    "lesson, shown by an ablation (run 20261120-101500-row_softmax-1a2b, kernel g002-e1-a0, row_softmax (0a1b2c3d) on "
    "mi300x, 2026-11-20): wide loads: +31.0 % against g001-e2-a0 by predicted time, both tuned; shown: the change "
    "itself gives +29.5 % at the same tunables",
)
PASSAGE = Quotation("0a1b2c3d4e5f", "shelf", "banks", "LDS > padding", "a handbook", "A passage.")


def prompts(name: str) -> dict[str, str]:
    """The whole first request of each role on a task, by role."""
    task = load_task(name)
    base = specimen(task, seed(name))
    texts = {"bench": _bench(name, False), "bench in text": _bench(name, True)}
    answers = [
        selection("g000-e0-a0", "g001-e1-a0"),
        '{"queries": ["a b", "c d"]}',
        proposal(),
        DRAFT,
        DRAFT,
        '{"remarks": [], "approve": true}',
    ]
    with tempfile.TemporaryDirectory() as folder, ScriptedEndpoint(answers) as server:
        bench, work = Bench(Path(folder), server), told(name)
        author = bench.author
        author.select(STEP, work, PEOPLE)
        author.queries(STEP, work, base)
        author.plan(STEP, work, base, [PASSAGE], Memory(), Room(3, 5))
        author.write(STEP, work, EXPERIMENT, idea(), base, None, [PASSAGE])
        author.repair(STEP, work, idea(), base, Draft(seed(name)), (), failed(), [PASSAGE])
        author.critique(STEP, work, idea(), base, Draft(seed(name)), compiled(), ("k spills: 64 bytes",), [PASSAGE])
        roles = ("selector", "retriever", "planner", "coder", "repair", "critic")
        texts |= {role: bench.prompt(number) for number, role in enumerate(roles)}
    return texts


def told(name: str) -> Assignment:
    """The assignment of a run that knows an earlier one."""
    return replace(assignment(name), recalled=RECALLED)


def _bench(name: str, as_text: bool) -> str:
    task, tries = load_task(name), 4
    values = {
        **work_view(told(name)),
        "idea": idea_view(idea()),
        "base": specimen_view(specimen(task, seed(name))),
        "literature": [PASSAGE],
        "reference": None,
        "tries": tries,
        "turns": most_turns(tries),
        "call": CALL,
        "tools": described(TOOLS),
    }
    talk: tuple[Message, ...] = conversation("bench", **values, as_text=as_text)
    return "\n".join(message.content for message in talk)


def tokens(text: str) -> int:
    """An estimate that needs no tokeniser."""
    return len(text.encode()) // BYTES_A_TOKEN


def golden(role: str) -> Path:
    """The golden copy of a role's prompt."""
    return GOLDEN / f"{role.replace(' ', '_')}.md"


if __name__ == "__main__":
    if sys.argv[1:] == ["refresh"]:
        GOLDEN.mkdir(exist_ok=True)
        for role, text in prompts(GOLDEN_TASK).items():
            golden(role).write_text(text + "\n", encoding="utf-8")
    for name in TASKS:
        for role, text in prompts(name).items():
            sys.stdout.write(f"{name:16} {role:14} {tokens(text):6}\n")
