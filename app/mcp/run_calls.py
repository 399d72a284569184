"""The tools about runs: begin, follow and stop one, and take its results. Each call opens the ledger for itself."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.mcp.advice import explained
from app.mcp.concealing import without_shapes
from app.mcp.kernel_calls import verdict_of
from records.errors import UsageError

if TYPE_CHECKING:
    from app.condition import Condition
    from app.mcp.workspace import ClientFolder
    from app.session import Session
    from app.settings import Settings
    from records.artefacts import ArtefactStore
    from records.experiment import Attempt, Run
    from records.ledger import Ledger

MOST_SHOWN = 20  # runs
ENDING = ".hip"  # of what a client may write: no ledger, no hook, no source of another program is replaced
STOP_S = 30.0


class RunCalls:
    """Runs of the settings' runs folder, for one client."""

    def __init__(self, settings: Settings, workspace: ClientFolder, budget_usd: float, most_at_once: int) -> None:
        """`budget_usd` is the most that one run may spend on a model; with 0 only the playbook may be the author."""
        self._settings, self._workspace = settings, workspace
        self._budget_usd, self._most_at_once = budget_usd, most_at_once
        self._turn = threading.Lock()  # of those who begin: two could both be the last one allowed

    def begin(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Start a run in a process of its own."""
        from app.run_request import RunRequest
        from app.session import open_session

        author, most = arguments.get("author") or "playbook", dict(arguments["most"])
        asked_usd = most.pop("budget_usd", arguments.get("budget_usd"))
        budget = self._budget_usd if asked_usd is None else float(asked_usd)
        if author == "llm" and not 0 < budget <= self._budget_usd:
            raise UsageError(
                f"a run with a model may spend at most ${self._budget_usd:g} here; the person who set up this server "
                "decides that with `kernel-scientist mcp --budget-usd`"
            )
        identity = arguments["task"], arguments["target"], arguments["on"], author, arguments["seed"]
        request = RunRequest(*identity, budget, arguments["limits"], most=most)
        with self._turn, open_session(self._settings, request) as session:
            return self._send_off(session)

    def resume(self, run_id: str, generations: int | None, most: dict[str, Any]) -> dict[str, Any]:
        """Go on with a run in a process of its own, with more generations and other limits where they are given."""
        from app.session import resume_session

        with self._turn, resume_session(self._settings, run_id, generations, most) as session:
            budget = session.context.meter.allowance.budget_usd
            if session.run.author == "llm" and (budget is None or budget > self._budget_usd):
                raise UsageError(
                    f"a run with a model may spend at most ${self._budget_usd:g} here, and this one has a larger "
                    "budget: give a smaller one, or resume it where it was begun"
                )
            return self._send_off(session)

    def _send_off(self, session: Session) -> dict[str, Any]:
        from app.detached import detach

        ledger = session.context.ledger
        at_work = [run.id for run in ledger.runs() if ledger.driver(run.id) is not None]
        if len(at_work) >= self._most_at_once:
            verb = "is" if len(at_work) == 1 else "are"
            raise UsageError(f"{', '.join(at_work)} {verb} at work, and no more may be: wait for one, or stop it")
        run = session.context.run
        pid = detach(self._settings, ledger, run)
        return {"run_id": run.id, "pid": pid, "next": "ask for its status; best gives the kernel that leads"}

    def status(self, run_id: str) -> list[Condition]:
        """One run, or those at work and the newest ones."""
        from app.condition import condition

        with self._records() as (ledger, _):
            runs = [self._find_run(ledger, run_id)] if run_id else list(ledger.runs())[-MOST_SHOWN:]
            return [condition(self._settings, ledger, run) for run in runs]

    def stop(self, run_id: str) -> Condition:
        """Pause a run at once."""
        from app.condition import condition
        from app.detached import stop

        with self._records() as (ledger, _):
            run = self._find_run(ledger, run_id)
            stop(ledger, run, STOP_S)
            return condition(self._settings, ledger, run)

    def best(self, run_id: str) -> dict[str, Any]:
        """Return the fields of a `BestKernel`."""
        from app.session import summary

        with self._records() as (ledger, artefacts):
            run = self._find_run(ledger, run_id)
            result = summary(ledger, run, self._settings.runs_folder / run.id, 0.0)
            best, first_line = result.best, result.headline
            if best is None:
                raise UsageError(f"the run {run.id} has no verified kernel yet")
            attempt = _attempt(ledger, run, best.id)
            fields = {name: value for name, value in asdict(best).items() if name not in ("id", "path")}
            source = artefacts.text(attempt.source)
            return {
                **fields,
                "run_id": run.id,
                "headline": first_line.text,
                "change": first_line.change,
                "advice": first_line.advice,
                "attempt": best.id,
                "source": source,
                "tunables": dict(attempt.tunables),
            }

    def explain(self, about: str, run_id: str) -> dict[str, Any]:
        """Return the fields of an `Explanation`: of a code, a kind, a resource; with a run, of one of its attempts."""
        if not run_id:
            return {"about": about, "text": explained(about)}
        from app.task_folders import open_task

        with self._records() as (ledger, artefacts):
            run = self._find_run(ledger, run_id)
            attempt = _attempt(ledger, run, about)
            evaluation = ledger.evaluation(attempt.evaluation_key)
            if evaluation is None:
                raise UsageError(f"the attempt {about} was not judged: {attempt.status}")
            source, task = artefacts.text(attempt.source), open_task(self._settings, run.task, run.target)
            text = "; ".join((attempt.status, *attempt.report))
            return {"about": about, "text": text, "verdict": verdict_of(evaluation, task, source)}

    def notebook(self, run_id: str) -> str:
        """List a run's attempts, a line each, with what was tried and what became of it."""
        from app.task_folders import open_task

        with self._records() as (ledger, _):
            run = self._find_run(ledger, run_id)
            task = open_task(self._settings, run.task, run.target)
            listed = {case.name for case in (*task.tests, *task.benchmarks)}
            title_of = {experiment.id: experiment.title for experiment in ledger.experiments(run.id)}
            lines = [
                "; ".join(filter(None, (_line(a), title_of.get(a.experiment_id), a.change, a.lesson or a.reason)))
                for a in ledger.attempts(run.id)
            ]
        return without_shapes(f"# The run {run.id}: {run.task} for {run.target}\n\n" + "\n".join(lines), listed)

    def export(self, run_id: str, path: str, replace: bool) -> dict[str, Any]:
        """Write the best kernel into the workspace; the fields of a `FileWritten`."""
        if not path.endswith(ENDING) or not path.isprintable():
            raise UsageError(f"a kernel's file ends in {ENDING} and has a name that can be read, unlike {path[:200]!r}")
        if (self._workspace.root / path).resolve().is_relative_to(self._settings.runs_folder.resolve()):
            raise UsageError(f"{path[:200]!r} is in the folder of the runs, which keeps their records; choose another")
        data = self.best(run_id)["source"].encode()
        self._workspace.write(path, data, replace=replace)
        return {"path": path, "bytes": len(data)}

    def export_own(self, run_id: str, path: str) -> dict[str, Any]:
        """Write the best kernel in its author's form into a new folder of the workspace."""
        from app.exporting import kernel_of_run
        from app.optimising import own_files

        if (self._workspace.root / path).resolve().is_relative_to(self._settings.runs_folder.resolve()):
            raise UsageError(f"{path[:200]!r} is in the folder of the runs, which keeps their records; choose another")
        with self._records() as (ledger, _):
            run = self._find_run(ledger, run_id)
        kernel = kernel_of_run(self._settings, run.id)
        result = own_files(self._settings, kernel, Path())
        self._workspace.write_folder(path, {str(file): content for file, content in result.files.items()})
        names = [f"{path}/{file}" for file in result.files]
        return {"path": f"{path}/{result.path}", "bytes": sum(map(len, result.files.values())), "files": names}

    @contextmanager
    def _records(self) -> Iterator[tuple[Ledger, ArtefactStore]]:
        from app.wiring import open_records

        ledger, artefacts = open_records(self._settings, create=False)
        with ledger:
            yield ledger, artefacts

    @staticmethod
    def _find_run(ledger: Ledger, run_id: str) -> Run:
        from app.wiring import find_run

        return find_run(ledger, run_id)


def _line(attempt: Attempt) -> str:
    time = f", {attempt.geomean_us:.4g} us {attempt.time_kind}" if attempt.geomean_us is not None else ""
    return f"- `{attempt.id}` {attempt.status}{time}"


def _attempt(ledger: Ledger, run: Run, attempt_id: str) -> Attempt:
    attempt = ledger.attempt(run.id, attempt_id)
    if attempt is None:
        raise UsageError(f"the run {run.id} has no attempt {attempt_id[:60]!r}")
    return attempt
