"""Every kind of decision of the product on representative inputs: what was decided, and the messages beside it.

`python -c "from tests.support.decisions import main; main(FOLDER)"` prints them as JSON; with `reworded.install()`
before it, of a product whose messages are other texts. No module of the product is imported at this file's top.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.support.decisions_of_judges import (
    SUMS,
    Row,
    comparisons,
    compilers,
    devices,
    drivers,
    executions,
    limits,
    plans,
)
from tests.support.decisions_of_services import clusters, databases, exports, imports

CRITICISED = ("if (threadIdx.x < 8) { __syncthreads(); }", "unsigned m = __ballot(1);", "hipMalloc(0, 1);", "{")


def runs(folder: Path) -> Iterator[Row]:
    """Whole runs: attempts of every outcome, and every kind of pause but that for answers from elsewhere."""
    from dataclasses import replace

    from graph.drive import drive
    from records.errors import BudgetExhausted, ToolchainError
    from tests.support.scripted_run import Bench, faster

    def budget(step: Any, base: Any) -> str:
        raise BudgetExhausted("the next call could cost more than is left")

    def machine(step: Any, base: Any) -> str:
        raise ToolchainError("the compiler cannot be started")

    def interrupted(event: Any) -> None:
        raise KeyboardInterrupt

    def unread(event: Any) -> None:
        raise BrokenPipeError

    for name, writer in (("faster", faster), ("budget", budget), ("machine", machine)):
        bench = Bench(folder / name, writer)
        yield _outcome(name, bench.context, _left(bench.drive))
    for name, progress in (("interrupted", interrupted), ("unread", unread)):
        bench = Bench(folder / name)
        left = _left(lambda b=bench, p=progress: drive(b.context, b.folder / "checkpoint.db", p))
        yield _outcome(name, bench.context, left)
    bench = Bench(folder / "approval", faster)
    asking = replace(bench.context, approves=True)
    left = _left(lambda: drive(asking, bench.folder / "checkpoint.db", ask=lambda question: None))
    yield _outcome("approval", asking, left)
    bench = Bench(folder / "bad seed", faster, "// fail compile line 3\n")
    yield _outcome("bad seed", bench.context, _left(bench.drive))


def waits(folder: Path) -> Iterator[Row]:
    """A run that waits for answers through a spool; the first ones come damaged, and are put aside and asked again."""
    from graph.doubles import TableSandbox
    from graph.drive import drive
    from sandbox.remote.spool import Spool
    from tests.support.stations import make_context, through, work

    spool = folder / "spool"
    context = make_context(folder / "spooled", through(Spool(spool)))
    for step in range(12):
        drive(context, folder / "spooled" / "checkpoint.db")
        yield _outcome(f"spool {step}", context, str(len(list((spool / "refused").iterdir()))))
        if context.ledger.run(context.run.id).status == "done":
            break
        work(spool, context.assignment.task, TableSandbox())
        for result in (spool / "results").iterdir() if not step else ():
            result.write_bytes(result.read_bytes()[:-40])


def _outcome(name: str, context: Any, left: str) -> Row:
    """A run's status, pause and attempts after it was left in this way."""
    run = context.ledger.run(context.run.id)
    attempts = context.ledger.attempts(run.id)
    decided = [left, run.status, run.pause, [[a.id, a.status, a.code, a.stage] for a in attempts]]
    return name, decided, [run.stop_reason, *(a.reason for a in attempts)]


def _left(drive: Callable[[], Any]) -> str:
    try:
        drive()
    except BaseException as error:
        return type(error).__name__
    return ""


def conversations(folder: Path) -> Iterator[Row]:
    """A served worker: which ends of a conversation are worth a note."""
    import time

    from graph.doubles import TableSandbox
    from sandbox.remote.server import ServedPost
    from tests.support.stations import make_task, through
    from tests.unit.sandbox.remote.test_server import TOKEN, serving

    for name, text, token in (
        ("right", "// fine\n", TOKEN),
        ("broken", "// machine compile x\n", TOKEN),
        ("foreign", "", "x" * 64),
    ):
        with serving(folder / name, TableSandbox()) as (address, notes):

            def ask(address: Any = address, text: str = text, token: str = token, name: str = name) -> None:
                remote = through(ServedPost(address, token))
                remote.compile(remote.prepare(text, make_task(folder / f"{name} task")))

            left = _left(ask)
            for _ in range(40):
                if notes:
                    break
                time.sleep(0.005)
        yield f"served {name}", [left, len(notes)], list(notes)


def critics(folder: Path) -> Iterator[Row]:
    """Which remarks on a draft are news beside those on its base."""
    from types import SimpleNamespace

    from agents.author import Draft, Step
    from agents.checks import check
    from agents.playbook.playbook import Playbook

    for slip in CRITICISED:
        for other in ("", *CRITICISED[:3]):
            remarks = check(SUMS.replace("__syncthreads();", f"{slip} {other}"), "gfx942")
            yield f"checks {slip} {other}", [[r.kind, r.about] for r in remarks], [r.text for r in remarks]
    base, draft = (SUMS.replace("__syncthreads();", slip) for slip in CRITICISED[:2])
    for name, before, after in (("news", base, draft), ("known", base, base)):
        work: Any = SimpleNamespace(arch="gfx942")
        critique = Playbook().critique(Step("r", 1), work, None, SimpleNamespace(source=before), Draft(after), None, ())  # type: ignore[arg-type]
        yield f"critique {name}", [critique.approve, len(critique.remarks)], list(critique.remarks)


def faults(folder: Path) -> Iterator[Row]:
    """The kinds of error and exit codes that commands end with."""
    from agents.model.forms import Forms, named_part
    from app.cli import run_command

    for text in ("temperature is unsupported", "max_tokens is unsupported, use max_completion_tokens", "no such model"):
        yield f"endpoint {text}", named_part(text, "", frozenset({"temperature", "token_field"}), Forms()), []
    kernel = folder / "kernel.hip"
    kernel.write_text("int main() {}", encoding="utf-8")
    commands = {
        "no file": ["check", "absent.hip", "--task", "rms_norm"],
        "no task": ["check", str(kernel), "--task", "absent"],
        "no run": ["resume", "absent"],
    }
    for name, words in commands.items():
        yield f"exit code with {name}", run_command(words), []


def main(folder: str) -> None:
    """All of it, to standard output."""
    import contextlib

    parts = (plans, compilers, comparisons, limits, drivers, devices, critics, executions, runs, waits)
    parts += (conversations, faults, clusters, exports, imports, databases)
    decisions: dict[str, Any] = {}
    with contextlib.redirect_stdout(sys.stderr):
        for part in parts:
            part_folder = Path(folder, part.__name__)
            part_folder.mkdir()
            decisions[part.__name__] = {name: [decided, words] for name, decided, words in part(part_folder)}
    json.dump(decisions, sys.stdout)
