"""Capabilities of this machine, one line each, with a remedy where something is missing."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from app.settings import Settings
from records.address import shown_address
from records.errors import NoRecords, ScientistError
from records.program_version import PACKAGE, program_version
from records.quantity import counted, given

LOW_DISK_BYTES = 2 << 30
PACKAGES = ("langgraph", "langchain-openai", "chromadb", "numpy")


@dataclass(frozen=True)
class Capability:
    """One answer. `doctor` says no only where something that is needed is missing."""

    name: str
    state: Literal["ok", "warn", "missing"]
    found: str
    remedy: str = ""
    needed: bool = False


Check = Callable[[Settings], Capability | Iterator[Capability]]


def hardware(settings: Settings) -> Iterator[Capability]:
    """Examine program, system, compilers and GPUs, cheapest first; a broken part is a line, never an exception."""
    return _answers(settings, _program, _system, _compiler, _vendor_compilers, _gpus)


def installation(settings: Settings) -> Iterator[Capability]:
    """Isolation, disk, stores, tracing and the model, cheapest first; a broken part is a line, never an exception."""
    return _answers(settings, _isolation, _imports, _disk, _ledger, _knowledge, _tracing, _model)


def describe(settings: Settings) -> dict[str, str]:
    """Versions and machine in a few words, for reports: no names of people or machines, no absolute paths."""
    compiler = _compiler(settings)
    versions = {
        PACKAGE: program_version(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor cores": str(given(os.cpu_count(), 0)),
        "compiler": compiler.found if compiler.state == "ok" else "none found",
        "isolation": _isolation(settings).found,
    }
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions


def _imports(settings: Settings) -> Capability:
    from importlib.util import find_spec

    if find_spec("torch") is not None:
        return Capability("import of tasks", "ok", "PyTorch is installed: `tasks new` takes PyTorch and NumPy files")
    remedy = "PyTorch files become tasks with it: kernel-scientist setup torch"
    return Capability("import of tasks", "warn", "PyTorch is not installed", remedy)


def _answers(settings: Settings, *checks: Check) -> Iterator[Capability]:
    for check in checks:
        answer = check(settings)
        yield from (answer,) if isinstance(answer, Capability) else answer


def _program(settings: Settings) -> Capability:
    return Capability("program", "ok", f"GPU Kernel Scientist {program_version()}", needed=True)


def _system(settings: Settings) -> Capability:
    machine = (
        f"{platform.system()} {platform.release()} {platform.machine()}, {os.cpu_count()} cores, Python "
        f"{platform.python_version()}"
    )
    if platform.system() == "Linux" and platform.machine() == "x86_64":
        return Capability("system", "ok", machine, needed=True)
    return Capability(
        "system", "missing", machine, "the lab executes kernels on x86-64 Linux only; use such a machine", True
    )


def _compiler(settings: Settings) -> Capability:
    from sandbox.amdgcn.toolchain import find_toolchain

    try:
        version = find_toolchain(settings.cache_folder / "toolchain").version
    except ScientistError as error:
        return Capability("compiler (gfx942, lab)", "missing", str(error), "then run this again", True)
    return Capability("compiler (gfx942, lab)", "ok", version, needed=True)


def _vendor_compilers(settings: Settings) -> Iterator[Capability]:
    for program, product in (("hipcc", "ROCm"), ("nvcc", "the CUDA toolkit")):
        path = shutil.which(program)
        if path:
            yield Capability(program, "ok", path)
        else:
            yield Capability(
                program, "missing", "not on the PATH", f"not needed for the lab; install {product} to use it"
            )


def _gpus(settings: Settings) -> Iterator[Capability]:
    kfd = Path("/dev/kfd")
    if not kfd.exists():
        yield Capability(
            "AMD GPU", "missing", "no /dev/kfd", "not needed for the lab; a GPU needs the amdgpu driver of ROCm"
        )
    elif os.access(kfd, os.R_OK | os.W_OK):
        yield Capability("AMD GPU", "ok", "/dev/kfd")
    else:
        yield Capability(
            "AMD GPU", "warn", "/dev/kfd may not be opened", "add this user to the groups render and video"
        )
    devices = sorted(p.name for p in Path("/dev").glob("nvidia[0-9]*"))
    if devices:
        yield Capability("NVIDIA GPU", "ok", ", ".join(devices))
    else:
        yield Capability(
            "NVIDIA GPU", "missing", "no /dev/nvidia0", "not needed for the lab; a GPU needs NVIDIA's driver"
        )


def _isolation(settings: Settings) -> Capability:
    from sandbox.amdgcn.toolchain import find_toolchain
    from sandbox.cage.confinement import candidates

    try:
        cage = find_toolchain(settings.cache_folder / "toolchain").cage
    except ScientistError:
        cage = candidates(None)[0]  # what a GPU's compiler gets where the lab has none
    if cage.is_strict:
        return Capability("isolation", "ok", cage.text)
    return Capability("isolation", "warn", cage.text, "runs are refused here unless --isolation limits is given")


def _disk(settings: Settings) -> Iterator[Capability]:
    for name, folder in (("runs folder", settings.runs_folder), ("cache folder", settings.cache_folder)):
        near = next(p for p in (folder, *folder.parents) if p.exists())
        variable = "KERNEL_SCIENTIST_" + name.upper().replace(" ", "_")
        if not os.access(near, os.W_OK) or not near.is_dir():
            yield Capability(
                name, "missing", f"{folder} cannot be written to", f"set {variable} to another place", True
            )
            continue
        free = shutil.disk_usage(near).free
        state: Literal["ok", "warn"] = "ok" if free >= LOW_DISK_BYTES else "warn"
        yield Capability(
            name,
            state,
            f"{folder}, {free / (1 << 30):.1f} GiB free",
            "" if state == "ok" else f"free some space, or set {variable} to another place",
            True,
        )


def _ledger(settings: Settings) -> Capability:
    from app.wiring import open_records

    try:
        with open_records(settings, create=False)[0] as ledger:
            database = "" if settings.database is None else f" in {ledger.engine.place}"
            return Capability("ledger", "ok", counted(len(ledger.runs()), "run") + database, needed=True)
    except NoRecords:
        return Capability("ledger", "ok", "none yet; the first run makes it", needed=True)
    except ScientistError as error:
        name = "RUNS_FOLDER" if settings.database is None else "DATABASE"
        return Capability("ledger", "missing", str(error), f"set KERNEL_SCIENTIST_{name} to another place", True)


def _knowledge(settings: Settings) -> Capability:
    from app.configured_store import make_store
    from knowledge.embedder import EmbedderError

    if not settings.knowledge.exists():
        return Capability("knowledge store", "ok", "none yet; the first search makes it", needed=True)
    try:
        with closing(make_store(settings)) as store:
            problems, documents = store.check(), store.documents()
    except EmbedderError as error:
        remedy = "set KERNEL_SCIENTIST_EMBEDDING_MODEL to a model that is there, or to `off`"
        return Capability("knowledge store", "missing", str(error), remedy, True)
    except ScientistError as error:
        remedy = "set KERNEL_SCIENTIST_KNOWLEDGE_FOLDER elsewhere"
        return Capability("knowledge store", "missing", str(error), remedy, True)
    if problems:
        return Capability("knowledge store", "warn", problems[0], "kernel-scientist knowledge check says more", True)
    return Capability(
        "knowledge store", "ok", f"{counted(len(documents), 'document')}, found by {found_by(settings)}", needed=True
    )


def found_by(settings: Settings) -> str:
    """Name what a search goes by: words, and vectors of whose."""
    from app.configured_store import OFF
    from app.own_embedder import is_left_open, remembered

    offered = remembered(settings) if is_left_open(settings) else ""
    if offered is None:
        return "their words; `knowledge rebuild` asks the model's endpoint for vectors"
    model = settings.embedding_model or (offered and f"{offered}, which the model's endpoint offers")
    if not model or model == OFF:
        return "their words; KERNEL_SCIENTIST_EMBEDDING_MODEL adds vectors"
    return f"their words and, at {settings.embedding_weight:g} of their weight, vectors of {model}"


def _tracing(settings: Settings) -> Capability:
    if not settings.tracing:
        return Capability("tracing", "ok", "off; --trace or LANGSMITH_TRACING=true turns it on")
    address = shown_address(settings.langsmith_endpoint or "") or "LangSmith's own address"
    texts = {"full": "with sources and prompts", "digest": "digests of long texts", "off": "without long texts"}
    details = f"project {settings.langsmith_project}, {texts[settings.trace_sources]}"
    return Capability("tracing", "ok", f"on: run traces go to {address}, {details}")


def _model(settings: Settings) -> Capability:
    """Ask the endpoint for tiny answers; nothing is sent where none is configured."""
    if not settings.has_model:
        return Capability(
            "model",
            "missing",
            "none is configured",
            "not needed for --author playbook; set OPENAI_API_KEY, or OPENAI_BASE_URL for another endpoint",
        )
    from agents.model.probe import probe
    from app.own_embedder import embedding_models
    from app.wiring import make_endpoint, make_memory

    try:
        endpoint = probe(make_endpoint(settings), memory=make_memory(settings))
    except ScientistError as error:
        return Capability("model", "missing", str(error), "check OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL")
    text = f"{endpoint.model} at {endpoint.address}: answers in {endpoint.seconds:.1f} s"
    text += f", JSON by {', '.join(endpoint.json_modes) or 'no way'}"
    text += ", calls tools" if endpoint.calls_tools else ", asks for tools in text"
    text += f", through the {endpoint.wire} interface" if endpoint.wire != "chat completions" else ""
    text += f", a window of {endpoint.window} tokens" if endpoint.window else ""
    text += "" if endpoint.counts_tokens else ", does not count tokens"
    text += "".join(f", offers vectors by {name}" for name in embedding_models(endpoint.models)[:1])
    return Capability("model", "warn" if endpoint.advice else "ok", text, endpoint.advice)
