"""A stranger's model or trace, read in a process without network and without files of ours."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imports.confined import ENDS, LIMITS, NO_MEMORY, ended, has_torch, run_child
from imports.foreign_text import BYTE_ORDER
from imports.models.graph_check import refuse_forged
from imports.models.operator_graph import TracedModel
from imports.models.trace_record import ProfilerTrace
from records import scratch_folder
from records.codec import from_plain
from records.errors import UsageError
from records.outside_text import decoded
from sandbox.cage.output import read_output
from sandbox.process import clean

if TYPE_CHECKING:
    from sandbox.cage.confinement import Cage

SECONDS = 600  # of processor time: an export of a model of 32 layers takes 60
NO_ANSWER = "its process left no usable answer"
MOST_ANSWER = 256 << 20
MOST_FILES, MOST_FILE = 64, 1 << 20  # beside a module
SCAN_LIMITS = replace(LIMITS, cpu_s=SECONDS, file_bytes=MOST_ANSWER)
SCAN_ENDS = {**ENDS, "cpu": f"it does not end within {SECONDS} s of processor time"}


def traced(request: Mapping[str, Any], cage: Cage) -> TracedModel:
    """ProfilerTrace a model; UsageError with the reason where it cannot be followed."""
    if not has_torch():
        raise UsageError(
            "a model is traced with PyTorch on the processor, which is not installed here: type kernel-scientist setup "
            "torch"
        )
    model: TracedModel = _answer(TracedModel, request, cage, True)
    try:
        refuse_forged(model)
    except (TypeError, ValueError):
        raise UsageError(f"{Path(str(request['path'])).name} cannot be scanned: {NO_ANSWER}") from None
    return replace(model, notes=tuple(clean(note) for note in model.notes))


def read_trace(path: Path, cage: Cage) -> ProfilerTrace:
    """Read a profiler's trace; UsageError where it is none."""
    answer: ProfilerTrace = _answer(ProfilerTrace, {"kind": "trace", "path": str(path.resolve())}, cage, False)
    return answer


def module_request(path: Path, name: str, specs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Make the request for a module of a file, with the files beside it that it imports."""
    text = _text(path)
    return {
        "kind": "module",
        "path": path.name,
        "text": text,
        "function": name,
        "specs": dict(specs),
        "sizes": dict(sizes),
        "modules": _neighbours(path.resolve().parent, text),
    }


def _neighbours(folder: Path, text: str) -> dict[str, str]:
    """Read the files of the folder that a text imports, and those that these import."""
    modules, waiting = dict[str, str](), [text]
    while waiting:
        for name in _imported_names(waiting.pop()):
            path = folder / f"{name}.py"
            if name not in modules and path.is_file() and path.stat().st_size <= MOST_FILE:
                if len(modules) == MOST_FILES:
                    raise UsageError(f"{folder} has more than {MOST_FILES} files that the model imports: export it")
                modules[name] = _text(path)
                waiting.append(modules[name])
    return modules


def _imported_names(text: str) -> set[str]:
    try:
        nodes = [*ast.walk(ast.parse(text.removeprefix(BYTE_ORDER)))]
    except (SyntaxError, ValueError, RecursionError):
        return set()
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom) and not node.level}
    return {name for name in names if name.isidentifier()}


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > MOST_FILE:
            raise UsageError(f"{path} is larger than {MOST_FILE:,} bytes, which no source file is")
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not Python: its bytes are no UTF-8 text") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror})") from None


def _answer(kind: type[Any], request: Mapping[str, Any], cage: Cage, with_torch: bool) -> Any:
    """Run the scan's process and take what it leaves, as a stranger's word."""
    folder = scratch_folder.make("scan")
    subject = Path(str(request["path"])).name
    readable = [Path(str(request["path"]))] if request["kind"] in ("exported", "trace") else []
    try:
        (folder / "request.json").write_text(json.dumps(request), encoding="utf-8")
        (folder / "cache").mkdir()
        further = {} if with_torch else {"further": ()}
        process = run_child("imports.models.scan_child", folder, cage, SCAN_LIMITS, readable=readable, **further)
        answer = _left_answer(folder / "result.json")
    finally:
        scratch_folder.remove(folder)
    if answer is None:
        reason = SCAN_ENDS.get(process.end) or ended(process.returncode, process.stderr)
        raise UsageError(f"{subject} cannot be scanned: {reason}")
    if "refused" in answer:
        reason = clean(str(answer["refused"]))
        if any(text in reason for text in NO_MEMORY):
            reason = f"{SCAN_ENDS['memory']} ({reason})"
        raise UsageError(f"{subject} cannot be scanned: {reason}")
    try:
        return from_plain(kind, answer["answer"])
    except (KeyError, TypeError, ValueError, AttributeError):
        raise UsageError(f"{subject} cannot be scanned: {NO_ANSWER}") from None


def _left_answer(path: Path) -> dict[str, Any] | None:
    try:
        answer = decoded(read_output(path, MOST_ANSWER))
    except (OSError, ValueError, RecursionError):
        return None
    return answer if isinstance(answer, dict) else None
