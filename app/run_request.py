"""A request for a run: checked, and made into the record of a run that is about to start."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.allowing import asked_allowance, is_of_all
from app.beating.incumbent_names import keep_incumbents
from app.program.author_command import is_program, kept_command, program_words
from app.remembered import keep_recalled, keep_weights
from app.sandboxes import place_of, refuse_seed, refuse_shapes_elsewhere, resolve_on
from app.settings import Settings
from app.starts import keep_starts, refuse_no_start
from app.wiring import limits_of, make_endpoint
from records.errors import UsageError
from records.experiment import Run

if TYPE_CHECKING:
    from records.artefacts import ArtefactStore
    from records.ledger import Ledger
    from tasks.task import Task

PROGRAM_TRIES = 12  # of a program as author, which nobody asks for each


@dataclass(frozen=True)
class RunRequest:
    """A person's request for a run."""

    task: str
    target: str = "mi300x"
    on: str = "auto"
    author: str | None = None  # llm, playbook or command:PROGRAM ARG...; chosen by what is configured when not given
    seed: int = 0
    budget_usd: float | None = None  # the settings' when not given
    limits: Mapping[str, int | float | None] | None = None  # fields of graph.context.Limits
    shapes: tuple[str, ...] = ()  # further tests, as `--shape` takes them
    starts: tuple[Path, ...] = ()  # kernel files that generation 0 begins with
    has_seeds: bool = True  # beside the task's own seeds
    from_memory: bool = False  # generation 0 begins with winners of earlier runs, too
    approves: bool = False  # a person is asked before experiments, and before money above the budget
    beat: tuple[str, ...] = ()  # implementations that the best kernel is compared with, as `--beat` takes them
    most: Mapping[str, int | float | None] | None = None  # further fields of records.allowance.Allowance


def choose_author(settings: Settings, name: str | None) -> str:
    """Choose the model if an endpoint is configured, else playbook; SettingsError if llm is asked for and cannot be."""
    author = name or ("llm" if settings.has_model else "playbook")
    if is_program(author):
        program_words(settings, author)
        return author
    if author not in ("llm", "playbook"):
        raise UsageError(f"--author is llm, playbook or command:PROGRAM ARG..., not {author!r}")
    if author == "llm":
        make_endpoint(settings)
    return author


def checked_fields(fields: Mapping[str, Any], kinds: Mapping[str, tuple[type, ...]], subject: str) -> dict[str, Any]:
    """Drop the fields that are None and check the rest; UsageError names the first one unknown, or of another type."""
    for name in fields:
        if name not in kinds:
            raise UsageError(f"there is no field {name!r} in {subject}; there are {', '.join(kinds)}")
    stated = {name: value for name, value in fields.items() if value is not None}  # forms send it for what is left out
    for name, value in stated.items():
        if not isinstance(value, kinds[name]) or (isinstance(value, bool) and bool not in kinds[name]):
            kind = " or ".join(allowed.__name__ for allowed in kinds[name])
            raise UsageError(f"the field {name} of {subject} is of type {kind}, not {type(value).__name__}")
    return stated


def checked_limits(limits: Mapping[str, int | float | None]) -> dict[str, int | float]:
    """Check the limits that were asked for; UsageError for one that there is not, or for a value it cannot have."""
    from graph.run_limits import HIGHEST, LEAST, MOST, Limits

    defaults = asdict(Limits())
    for name, value in limits.items():
        if name not in defaults:
            raise UsageError(f"there is no limit {name!r}; there are {', '.join(defaults)}")
        if value is None:
            continue
        if isinstance(defaults[name], bool):
            if value not in (0, 1):
                raise UsageError(f"the limit {name} is true or false, not {value!r}")
            continue
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        least, most = LEAST.get(name, 0), MOST.get(name, HIGHEST)
        if not is_number or not least <= value <= most or (isinstance(defaults[name], int) and value != int(value)):
            kind = "a whole number" if isinstance(defaults[name], int) else "a number"
            raise UsageError(f"the limit {name} is {kind} from {least:,} to {most:,}, not {value!r}")
    return {n: type(defaults[n])(v) for n, v in limits.items() if v is not None}


def new_run(settings: Settings, request: RunRequest, task: Task, extra: Mapping[str, str | bool] | None = None) -> Run:
    """Make the record of a run that is about to start, with a new id that sorts by time."""
    from graph.context import Limits
    from tasks.extra_shapes import with_shapes

    author = choose_author(settings, request.author)
    has_starts = bool(request.starts) or request.from_memory
    refuse_no_start(has_starts, request.has_seeds, author, task)
    most = asked_allowance(settings, {**(request.most or {}), "budget_usd": request.budget_usd}).given()
    if author != "llm":
        most = {name: value for name, value in most.items() if is_of_all(name)}
    refuse_seed(request.seed)
    command: Mapping[str, str] = {}
    tries, seed = settings.tries, request.seed
    if is_program(author):
        author, command = kept_command(program_words(settings, author))
        tries = PROGRAM_TRIES
        seed = seed or secrets.randbelow(1 << 31)  # held-out inputs follow from it, and the program could guess 0
    request_limits = {"tries": tries} | checked_limits(request.limits or {})
    is_without = settings.tools == "off" and not command
    limits = asdict(Limits(**request_limits | ({"tries": 0} if is_without else {})))  # type: ignore[arg-type]
    models = {f"model_{role}": name for role, name in settings.models().items()} if author == "llm" else {}
    on = resolve_on(request.on, request.target)
    refuse_shapes_elsewhere(on, request.shapes)
    place_config = {"place": place_id} if (place_id := place_of(settings, on, request.target)) else {}
    with_shapes(task, request.shapes)  # which refuses a bad one before the run is written down
    shapes = {"shapes": ";".join(request.shapes)} if request.shapes else {}
    now = datetime.now(UTC)
    return Run(
        id=f"{now:%Y%m%d-%H%M%S}-{task.name}-{secrets.token_hex(2)}",
        task=task.name if request.task == task.name else str(task.folder),
        target=request.target,
        on=on,
        author=author,
        seed=seed,
        config={
            **limits,
            **most,
            **models,
            **place_config,
            **shapes,
            **command,
            **({"approves": True} if request.approves else {}),
            **(extra or {}),
        },
        created_at=now.isoformat(timespec="seconds"),
    )


def keep_request(
    settings: Settings, request: RunRequest, task: Task, stores: tuple[Ledger, ArtefactStore]
) -> Mapping[str, str | bool]:
    """Return the parts of a request that its run keeps as texts: files to begin with, findings of earlier runs."""
    from tasks.extra_shapes import with_shapes

    limits = limits_of(request.limits or {})
    judged = with_shapes(task, request.shapes)
    recalled = keep_recalled(settings, judged, request.target, limits.memory_tokens, stores, request.from_memory)
    weights = keep_weights(*stores) if limits.literature_feedback else {}
    incumbents = keep_incumbents(request.beat, stores[1])
    config = {**keep_starts(request.starts, stores[1]), **recalled, **weights, **incumbents}
    return config if request.has_seeds else {**config, "has_seeds": False}
