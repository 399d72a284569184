"""GPU Kernel Scientist from Python: `from kernel_scientist import run`.

    run(task, ...)           search for a faster kernel; a `Result`
    optimise(source, ...)    make a file or function faster and write it back; an `OptimisedKernel`
    resume(run_id, ...)      go on with a run that was paused, or beyond its end
    astream(task, ...)       the same, as typed events while it goes on; the last one is `Finished`
    check(source, task)      compile, verify and time one kernel; an `Evaluation`
    get_source(run_id, id)   the text of a kernel of a run, such as that of a state's `best_id`
    open_context(task, ...)  the collaborators of a new run, for a graph of your own
    build_graph()            the state graph, not compiled
    KnowledgeStore(folder)   documents: `add(...)` reads files, `as_retriever()` is a LangChain retriever

Settings are those of the command line, from the environment and `.env`; `settings=` takes others. Every fault is a
`ScientistError` of one sentence. `__version__` is the program's. What is named here is stable, modules below are not.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from kernel_scientist.own_packages import claim

if TYPE_CHECKING:
    __version__: str

    from app.session import Best
    from app.settings import Settings
    from documents.document import Citation
    from graph.build import build_graph
    from graph.context import Context
    from graph.question import Question
    from graph.run_limits import Limits
    from kernel_scientist.interface import astream, check, get_source, open_context, optimise, resume, run
    from kernel_scientist.run_events import (
        AttemptMade,
        Finished,
        GenerationBegun,
        NewBest,
        OtherEvent,
        Planned,
        RunEvent,
        Selected,
        StageBegun,
        Stopped,
        Warned,
    )
    from kernel_scientist.search_result import OptimisedKernel
    from kernel_scientist.search_result import SearchResult as Result
    from knowledge.retriever import NotesRetriever
    from knowledge.store import KnowledgeStore
    from knowledge.vector_store import LangChainEmbedder, NotesVectorStore
    from records.errors import RunStopped, ScientistError
    from records.evaluation import Evaluation
    from records.stopping import StopSignal

__all__ = [
    "AttemptMade",
    "Best",
    "Citation",
    "Context",
    "Evaluation",
    "Finished",
    "GenerationBegun",
    "KnowledgeStore",
    "LangChainEmbedder",
    "Limits",
    "NewBest",
    "NotesRetriever",
    "NotesVectorStore",
    "OptimisedKernel",
    "OtherEvent",
    "Planned",
    "Question",
    "Result",
    "RunEvent",
    "RunStopped",
    "ScientistError",
    "Selected",
    "Settings",
    "StageBegun",
    "StopSignal",
    "Stopped",
    "Warned",
    "astream",
    "build_graph",
    "check",
    "get_source",
    "open_context",
    "optimise",
    "resume",
    "run",
]

_EVENTS = "kernel_scientist.run_events"
_HOMES = {
    **dict.fromkeys(("astream", "check", "get_source", "open_context"), "kernel_scientist.interface"),
    **dict.fromkeys(("optimise", "resume", "run"), "kernel_scientist.interface"),
    **dict.fromkeys(("AttemptMade", "Finished", "GenerationBegun", "NewBest", "OtherEvent", "Planned"), _EVENTS),
    **dict.fromkeys(("RunEvent", "Selected", "StageBegun", "Stopped", "Warned"), _EVENTS),
    "Best": "app.session",
    "Settings": "app.settings",
    "build_graph": "graph.build",
    "Citation": "documents.document",
    "Context": "graph.context",
    "Limits": "graph.run_limits",
    "Question": "graph.question",
    "KnowledgeStore": "knowledge.store",
    "NotesRetriever": "knowledge.retriever",
    "OptimisedKernel": "kernel_scientist.search_result",
    **dict.fromkeys(("LangChainEmbedder", "NotesVectorStore"), "knowledge.vector_store"),
    **dict.fromkeys(("RunStopped", "ScientistError"), "records.errors"),
    "StopSignal": "records.stopping",
    "Evaluation": "records.evaluation",
}

claim()


def __dir__() -> list[str]:
    """List the names that are documented and stable."""
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    """Import on first use, so that one name does not cost the import of everything."""
    if name == "__version__":
        return importlib.import_module("records.program_version").program_version()
    if name == "Result":
        return importlib.import_module("kernel_scientist.search_result").SearchResult
    if name not in _HOMES:
        raise AttributeError(f"module 'kernel_scientist' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
