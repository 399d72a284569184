"""From settings to a running graph: builds literature, ledger, author and limits. Nothing here is global."""

from __future__ import annotations

import os

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"  # langgraph reads it once, when it is first imported

import hashlib
import shutil
from collections.abc import Mapping
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from app.allowing import meter_of
from app.configured_store import make_store
from app.pricing import ASSUMED_USD, prices_of
from app.program.author_command import is_program
from app.remembered import recalled_of, weights_kept, winners_of
from app.sandboxes import LAB_VENDOR, make_sandbox, require_fence_of, require_isolation
from app.screen import note
from app.settings import OPENAI, Settings
from app.starts import starts_of
from app.task_folders import open_task
from knowledge.paid_embedder import PaidEmbedder
from records.errors import LedgerError, NoRecords, SettingsError, UsageError
from records.event_log import EventLog
from records.experiment import Run
from records.ledger import Ledger
from records.literature import Quotation
from records.run_meter import RunMeter
from records.stopping import StopSignal

if TYPE_CHECKING:
    from agents.author import Assignment, Author
    from agents.model.endpoint import Endpoint
    from agents.model.endpoint_memory import EndpointMemory
    from graph.context import Context, Limits, MachineCode
    from graph.drive import Checkpoints
    from knowledge.embedder import EndpointEmbedder
    from knowledge.store import KnowledgeStore
    from records.artefacts import ArtefactStore
    from sandbox.amdgcn.compiler import Compiler
    from tasks.task import Task


REACH = 3  # times as many passages are looked at where earlier runs weigh them


class StoredLiterature:
    """The knowledge store as a run reads it. Nothing is opened before the first search."""

    def __init__(self, store: KnowledgeStore, weights: Mapping[str, float] | None = None) -> None:
        """Nothing is opened yet. `weights`: factors for the scores of some passages, by id."""
        self._store, self._weights = store, weights or {}

    def search(self, query: str, k: int, arch: str | None = None) -> tuple[Quotation, ...]:
        """Find the best k passages, each with its id and source."""
        from langsmith import trace

        self._store.ensure_shipped()
        with trace("notes", "retriever", inputs={"query": query, "k": k, "arch": arch}) as step:
            hits = self._store.search(query, REACH * k if self._weights else k, arch)
            hits = sorted(hits, key=lambda h: -h.score * self._weights.get(h.passage, 1.0))[:k]
            documents = [
                {"page_content": h.text, "type": "Document", "metadata": {"title": h.title, "source": h.source}}
                for h in hits
            ]
            step.end(outputs={"documents": documents})
        return tuple(Quotation(h.passage, h.document, h.title, h.section, h.source, h.text) for h in hits)

    def close(self) -> None:
        """Close the store's files."""
        self._store.close()


def make_compiler(settings: Settings, target: str, stop: StopSignal | None = None) -> Compiler:
    """Make the compiler for a target; UsageError where the target needs another one."""
    from sandbox.amdgcn.compiler import Compiler
    from sandbox.amdgcn.toolchain import find_toolchain
    from sandbox.target import load_target

    gpu = load_target(target)
    if gpu.vendor != LAB_VENDOR:
        raise UsageError(
            f"machine code is shown for AMD GPUs only, and {target} is none; use --target mi300x, "
            "or judge the kernel by `check --on device` where the GPU is"
        )
    toolchain = find_toolchain(settings.cache_folder / "toolchain", stop)
    return Compiler(toolchain, settings.cache_folder / "kernels", gpu)


def make_endpoint(settings: Settings) -> Endpoint:
    """Make the model's endpoint; SettingsError when none is configured."""
    if not settings.has_model:
        raise SettingsError(
            "no model is configured: set OPENAI_API_KEY, or OPENAI_BASE_URL for another endpoint, "
            "or use --author playbook, which needs neither"
        )
    from pydantic import SecretStr

    from agents.model.endpoint import Endpoint
    from agents.model.price import Price

    return Endpoint(
        base_url=settings.base_url or OPENAI,
        model=settings.model,
        api_key=settings.api_key or SecretStr(""),
        models=settings.models(),
        timeout_s=settings.model_timeout_s,
        max_tokens=settings.max_completion_tokens,
        retries=settings.model_retries,
        patience_s=settings.model_patience_s,
        fallbacks=tuple(name.strip() for name in settings.model_fallbacks.split(",") if name.strip()),
        effort=settings.reasoning_effort.strip(),
        requests_per_minute=settings.model_requests_per_minute,
        tokens_per_minute=settings.model_tokens_per_minute,
        price=Price(*ASSUMED_USD, is_known=False),
        prices=prices_of(settings),
        tools=settings.tools if settings.tools != "off" else "auto",
        secrets=settings.secrets(),
    )


def make_memory(settings: Settings) -> EndpointMemory:
    """Make the memory of what earlier runs and `doctor` found out about endpoints."""
    from agents.model.endpoint_memory import EndpointMemory

    return EndpointMemory(settings.cache_folder / "endpoints.json")


def make_author(
    settings: Settings, run: Run, ledger: Ledger, artefacts: ArtefactStore, meter: RunMeter, explores: bool = False
) -> Author:
    """Make the playbook, a program, or the scientist over a language model, whose calls the meter allows.

    `explores`: the graph tries the changes of the playbook by itself.
    """
    if run.author == "playbook":
        from agents.playbook.playbook import Playbook

        return Playbook(run.seed, explores)
    if is_program(run.author):
        from app.program.program_host import program_author

        return program_author(settings, run, make_folder(settings, run), meter)
    from agents.model.gateway import Gateway
    from agents.scientist.scientist import Scientist

    def warn_run(text: str) -> None:
        note(text)
        ledger.event(run.id, "warning", {"message": text}, f"warning:{hashlib.sha256(text.encode()).hexdigest()[:12]}")

    endpoint, memory = make_endpoint(settings), make_memory(settings)
    return Scientist(Gateway(endpoint, ledger, artefacts, meter=meter, memory=memory, tell=warn_run))


def assignment_of(run: Run, task: Task, limits: Limits, recalled: tuple[str, ...] = ()) -> Assignment:
    """Describe the fixed part of a run as its author is told of it."""
    from agents.author import Assignment
    from sandbox.target import load_target

    target = load_target(run.target)
    fixed = task, target.brief.strip(), target.name, target.arch, run.seed
    return Assignment(*fixed, combines=bool(limits.dispatch), classifies=bool(limits.taxonomy), recalled=recalled)


def make_context(
    settings: Settings, run: Run, ledger: Ledger, artefacts: ArtefactStore, stop: StopSignal | None = None
) -> Context:
    """Make the collaborators of one run, for `build_graph()`; `stop` cancels what any of them is at."""
    from agents.playbook.changes import Changes
    from graph.context import Context, Deferred
    from tasks.extra_shapes import with_shapes

    shapes = [text for text in str(run.config.get("shapes") or "").split(";") if text]
    task = with_shapes(open_task(settings, run.task, run.target), shapes)
    require_isolation(settings, run.target, run.on)
    place_id = str(run.config.get("place") or "")
    limits, meter = limits_of(run.config), meter_of(settings, run, ledger, stop)
    stop = meter.stop
    sandbox = make_sandbox(settings, run.target, run.on, run.seed, place_id=place_id, run_id=run.id, stop=stop)
    require_fence_of(settings, sandbox)
    explores = limits.explorations > 0 and not isinstance(sandbox, Deferred)
    assignment = assignment_of(run, task, limits, recalled_of(run.config, artefacts))
    return Context(
        run=run,
        author=make_author(settings, run, ledger, artefacts, meter, explores),
        sandbox=sandbox,
        assignment=assignment,
        literature=make_literature(settings, run, ledger, artefacts, meter),
        ledger=ledger,
        artefacts=artefacts,
        limits=limits,
        changes=Changes(assignment),
        starts=(*starts_of(run.config), *winners_of(run.config)),
        has_seeds=run.config.get("has_seeds") is not False,
        disassembler=make_disassembler(settings, run.target, stop) if run.author != "playbook" else None,
        approves=run.config.get("approves") is True,
        allow_usd=None if run.author != "llm" else lambda usd: meter.allow(budget_usd=usd),
        given_meter=meter,
        listener=EventLog(settings.runs_folder / run.id, run.id, settings.secrets()),
    )


def make_literature(
    settings: Settings, run: Run, ledger: Ledger, artefacts: ArtefactStore, meter: RunMeter
) -> StoredLiterature:
    """Open the store of the settings as a run reads it; the vectors of its queries count in the run's budget."""

    def paid(embedder: EndpointEmbedder) -> PaidEmbedder:
        usd = settings.usd_per_million_embedding_tokens / 1e6
        return PaidEmbedder(embedder, run.id, ledger, artefacts, usd, lambda: meter.allowance)

    return StoredLiterature(make_store(settings, paid), weights_kept(run.config, artefacts))


def make_disassembler(settings: Settings, target: str, stop: StopSignal | None = None) -> MachineCode | None:
    """Return what shows machine code where it is that of an AMD GPU; None for other targets."""
    from sandbox.amdgcn.inner_loop import Disassembler
    from sandbox.target import load_target

    return Disassembler(make_compiler(settings, target, stop)) if load_target(target).vendor == LAB_VENDOR else None


def limits_of(config: Mapping[str, Any]) -> Limits:
    """Return the limits a run was started with; without tools and explorations where its program knew none."""
    from graph.context import Limits

    stated = {f.name: config[f.name] for f in fields(Limits) if config.get(f.name) is not None}
    return Limits(**{"tries": 0, "explorations": 0, "answers": 0, "attainable_fraction": 0.0} | stated)


def open_records(settings: Settings, create: bool) -> tuple[Ledger, ArtefactStore]:
    """Open the ledger and artefacts of the runs folder, or of the database; LedgerError when they cannot be used."""
    from postgres.shared_database import open_shared, person
    from records.artefacts import ArtefactStore

    if settings.database is not None:
        shared = open_shared(settings.database, create)
        return shared, ArtefactStore(None, shared)
    path = settings.runs_folder / "ledger.db"
    if not create and not path.exists():
        raise NoRecords(f"there are no runs in {settings.runs_folder}; `kernel-scientist demo` makes one")
    ledger = Ledger(path, person())
    return ledger, ArtefactStore(settings.runs_folder / "artefacts", ledger)


def open_place(address: str) -> tuple[Ledger, ArtefactStore]:
    """Open the ledger and the artefacts of a database or of a file, made where there are none."""
    from postgres.shared_database import SCHEMES, open_shared, person, refuse_password
    from records.artefacts import ArtefactStore

    if address.startswith(SCHEMES):
        refuse_password(address)
        shared = open_shared(SecretStr(address))
        return shared, ArtefactStore(None, shared)
    if "://" in address:
        raise UsageError("--to is postgresql://USER@HOST:PORT/DATABASE, or the file of a ledger")
    path = Path(address).expanduser().absolute()
    path = path / "ledger.db" if path.is_dir() else path
    ledger = Ledger(path, person())
    return ledger, ArtefactStore(path.parent / "artefacts", ledger)


def checkpoints_of(settings: Settings, folder: Path) -> Path | Checkpoints:
    """Return the place of a run's checkpoints: a file of its folder, or the database of the ledger."""
    from postgres.shared_database import open_checkpoints

    return folder / "checkpoint.db" if settings.database is None else partial(open_checkpoints, settings.database)


def find_run(ledger: Ledger, run_id: str) -> Run:
    """Find a run by id, by the beginning of one, or the newest as `last`."""
    if run_id == "last":
        runs = ledger.runs()
        if not runs:
            raise UsageError("there is no run yet; `kernel-scientist demo` makes one")
        return runs[-1]
    return ledger.run(run_id)


def make_folder(settings: Settings, run: Run) -> Path:
    """Make the run's own folder; LedgerError when it cannot be made."""
    folder = settings.runs_folder / run.id
    try:
        folder.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(folder).free
    except OSError as error:
        raise LedgerError(
            f"the run folder {folder} cannot be made ({error.strerror}); "
            "set KERNEL_SCIENTIST_RUNS_FOLDER to another place"
        ) from None
    if free < 64 << 20:
        raise LedgerError(f"only {free >> 20} MiB are free at {folder}; free some space first")
    return folder
