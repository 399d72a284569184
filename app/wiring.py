"""From settings to a running graph: builds literature, ledger, author and limits. Nothing here is global."""

from __future__ import annotations

import os

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"  # langgraph reads it once, when it is first imported

import secrets
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.remembered import keep_recalled, recalled_of, winners_of
from app.sandboxes import (
    LAB_VENDOR,
    is_elsewhere,
    make_post,
    make_sandbox,
    refuse_shapes_elsewhere,
    require_fence_of,
    require_isolation,
    resolve_on,
)
from app.settings import Settings
from app.starts import keep_starts, refuse_no_start, starts_of
from app.task_folders import open_task
from records.errors import LedgerError, SettingsError, UsageError
from records.experiment import Run
from records.ledger import Ledger

if TYPE_CHECKING:
    from agents.author import Author
    from agents.model.endpoint import Endpoint
    from graph.context import Context, Limits, MachineCode
    from records.artefacts import ArtefactStore
    from sandbox.amdgcn.compiler import Compiler
    from tasks.task import Task

OPENAI = "https://api.openai.com/v1"


@dataclass(frozen=True)
class RunRequest:
    """A person's request for a run."""

    task: str
    target: str = "mi300x"
    on: str = "auto"
    author: str | None = None  # llm or playbook; chosen by what is configured when not given
    seed: int = 0
    budget_usd: float | None = None  # the settings' when not given
    limits: Mapping[str, int | float | None] | None = None  # fields of graph.context.Limits
    shapes: tuple[str, ...] = ()  # further tests, as `--shape` takes them
    starts: tuple[Path, ...] = ()  # kernel files that generation 0 begins with
    has_seeds: bool = True  # beside the task's own seeds
    from_memory: bool = False  # generation 0 begins with winners of earlier runs, too


class ShelvedLiterature:
    """Passages ready for a prompt; the diary of the run records each. The first search imports Chroma."""

    def __init__(self, folder: Path, ledger: Ledger, run_id: str) -> None:
        """Nothing is opened yet."""
        from knowledge.store import KnowledgeStore

        self._store = KnowledgeStore(folder)
        self._ledger = ledger
        self._run_id = run_id

    def search(self, query: str, k: int, arch: str | None = None) -> tuple[str, ...]:
        """The best k passages, each under its title, section and source."""
        self._store.ensure_shipped()
        passages = []
        for hit in self._store.search(query, k, arch):
            self._ledger.event(
                self._run_id,
                "literature",
                {"title": hit.title, "section": hit.section, "source": hit.source},
                key=f"literature:{hit.document}:{hit.section}",
            )
            passages.append(f"## {hit.title}: {hit.section}\nSource: {hit.source}\n\n{hit.text}")
        return tuple(passages)

    def close(self) -> None:
        """Close the store's files."""
        self._store.close()


def make_compiler(settings: Settings, target: str) -> Compiler:
    """The compiler for a target; UsageError where the target needs another one."""
    from sandbox.amdgcn.compiler import Compiler
    from sandbox.amdgcn.toolchain import find_toolchain
    from sandbox.target import load_target

    known = load_target(target)
    if known.vendor != LAB_VENDOR:
        raise UsageError(
            f"machine code is shown for AMD GPUs only, and {target} is none; use --target mi300x, "
            "or judge the kernel by `check --on device` where the GPU is"
        )
    return Compiler(find_toolchain(settings.cache_folder / "toolchain"), settings.cache_folder / "kernels", known)


def make_endpoint(settings: Settings) -> Endpoint:
    """The model's endpoint; SettingsError when none is configured."""
    if not settings.has_model:
        raise SettingsError(
            "no model is configured: set OPENAI_API_KEY, or OPENAI_BASE_URL for another endpoint, "
            "or use --author playbook, which needs neither"
        )
    from pydantic import SecretStr

    from agents.model.endpoint import Endpoint, Price

    return Endpoint(
        base_url=settings.base_url or OPENAI,
        model=settings.model,
        api_key=settings.api_key or SecretStr(""),
        models=settings.models(),
        timeout_s=settings.model_timeout_s,
        max_tokens=settings.max_completion_tokens,
        retries=settings.model_retries,
        price=Price(settings.usd_per_million_prompt_tokens, settings.usd_per_million_completion_tokens),
        tools=settings.tools if settings.tools != "off" else "auto",
    )


def make_author(settings: Settings, run: Run, ledger: Ledger, artefacts: ArtefactStore, budget_usd: float) -> Author:
    """The playbook, or the scientist over a language model."""
    if run.author == "playbook":
        from agents.playbook.playbook import Playbook

        return Playbook(run.seed)
    from agents.model.gateway import Gateway
    from agents.scientist.scientist import Scientist

    return Scientist(Gateway(make_endpoint(settings), ledger, artefacts, budget_usd))


def make_context(settings: Settings, run: Run, ledger: Ledger, artefacts: ArtefactStore, budget_usd: float) -> Context:
    """The collaborators of one run, for `build_graph()`."""
    from agents.author import Assignment
    from graph.context import Context
    from sandbox.target import load_target
    from tasks.extra_shapes import with_shapes

    shapes = [text for text in str(run.config.get("shapes") or "").split(";") if text]
    task, target = with_shapes(open_task(settings, run.task, run.target), shapes), load_target(run.target)
    require_isolation(settings, run.target, run.on)
    sandbox = make_sandbox(settings, run.target, run.on, run.seed, place_id=str(run.config.get("place") or ""))
    require_fence_of(settings, sandbox)
    return Context(
        run=run,
        author=make_author(settings, run, ledger, artefacts, budget_usd),
        sandbox=sandbox,
        assignment=Assignment(
            task, target.brief.strip(), target.name, target.arch, run.seed, recalled_of(run.config, artefacts)
        ),
        literature=ShelvedLiterature(settings.knowledge, ledger, run.id),
        ledger=ledger,
        artefacts=artefacts,
        limits=limits_of(run.config),
        starts=(*starts_of(run.config), *winners_of(run.config)),
        has_seeds=run.config.get("has_seeds") is not False,
        disassembler=make_disassembler(settings, run.target) if run.author == "llm" else None,
    )


def make_disassembler(settings: Settings, target: str) -> MachineCode | None:
    """Shows machine code where it is that of an AMD GPU; None for other targets."""
    from sandbox.amdgcn.inner_loop import Disassembler
    from sandbox.target import load_target

    return Disassembler(make_compiler(settings, target)) if load_target(target).vendor == LAB_VENDOR else None


def limits_of(config: Mapping[str, Any]) -> Limits:
    """The limits a run was started with; without tools where its program knew none."""
    from graph.context import Limits

    known = {f.name: config[f.name] for f in fields(Limits) if config.get(f.name) is not None}
    return Limits(**{"tries": 0} | known)


def choose_author(settings: Settings, asked: str | None) -> str:
    """The model when an endpoint is configured, else playbook; SettingsError when llm is asked for and cannot be."""
    author = asked or ("llm" if settings.has_model else "playbook")
    if author not in ("llm", "playbook"):
        raise UsageError(f"--author is llm or playbook, not {author!r}")
    if author == "llm":
        make_endpoint(settings)
    return author


def new_run(settings: Settings, request: RunRequest, task: Task, kept: Mapping[str, str | bool] | None = None) -> Run:
    """The record of a run that is about to start, with a new id that sorts by time."""
    from graph.context import Limits
    from tasks.extra_shapes import with_shapes

    author = choose_author(settings, request.author)
    has_starts = bool(request.starts) or request.from_memory
    refuse_no_start(has_starts, request.has_seeds, author, task)
    budget = settings.budget_usd if request.budget_usd is None else request.budget_usd
    if budget < 0:
        raise UsageError("--budget-usd cannot be negative")
    asked = {"tries": settings.tries} | {n: v for n, v in (request.limits or {}).items() if v is not None}
    limits = asdict(Limits(**asked | ({"tries": 0} if settings.tools == "off" else {})))  # type: ignore[arg-type]
    models = {f"model_{role}": name for role, name in settings.models().items()} if author == "llm" else {}
    on = resolve_on(request.on, request.target)
    place = {"place": make_post(settings, on).id} if is_elsewhere(on) else {}
    refuse_shapes_elsewhere(on, request.shapes)
    with_shapes(task, request.shapes)  # which refuses a bad one before the run is written down
    shapes = {"shapes": ";".join(request.shapes)} if request.shapes else {}
    now = datetime.now(UTC)
    return Run(
        id=f"{now:%Y%m%d-%H%M%S}-{task.name}-{secrets.token_hex(2)}",
        task=task.name if request.task == task.name else str(task.folder),
        target=request.target,
        on=on,
        author=author,
        seed=request.seed,
        config={
            **limits,
            **({"budget_usd": budget} if author == "llm" else {}),
            **models,
            **place,
            **shapes,
            **(kept or {}),
        },
        created_at=now.isoformat(timespec="seconds"),
    )


def keep_request(
    settings: Settings, request: RunRequest, task: Task, stores: tuple[Ledger, ArtefactStore]
) -> Mapping[str, str | bool]:
    """The parts of a request that its run keeps as texts: files to begin with, findings of earlier runs."""
    from tasks.extra_shapes import with_shapes

    tokens = limits_of(request.limits or {}).memory_tokens
    judged = with_shapes(task, request.shapes)
    recalled = keep_recalled(settings, judged, request.target, tokens, stores, request.from_memory)
    kept = {**keep_starts(request.starts, stores[1]), **recalled}
    return kept if request.has_seeds else {**kept, "has_seeds": False}


def open_records(settings: Settings, create: bool) -> tuple[Ledger, ArtefactStore]:
    """The ledger and the artefacts of the runs folder; LedgerError when they cannot be used."""
    from records.artefacts import ArtefactStore

    path = settings.runs_folder / "ledger.db"
    if not create and not path.exists():
        raise UsageError(f"there are no runs in {settings.runs_folder}; `kernel-scientist demo` makes one")
    ledger = Ledger(path)
    return ledger, ArtefactStore(settings.runs_folder / "artefacts", ledger)


def find_run(ledger: Ledger, run_id: str) -> Run:
    """A run by id, by the beginning of one, or the newest as `last`."""
    if run_id == "last":
        runs = ledger.runs()
        if not runs:
            raise UsageError("there is no run yet; `kernel-scientist demo` makes one")
        return runs[-1]
    return ledger.run(run_id)


def make_folder(settings: Settings, run: Run) -> Path:
    """The run's own folder; LedgerError when it cannot be made."""
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
