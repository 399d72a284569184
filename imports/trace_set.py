"""The files of a trace set of FlashInfer-Bench that belong to one definition."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from records.errors import UsageError

MOST_LINES_BYTES = 4 << 20
MOST_STORED_BYTES = 64 << 20  # of tensors that are kept beside a task


def definition_of(path: Path, name: str) -> Path:
    """Find the definition's file: itself, or the one of that name in a folder of them."""
    if path.is_file():
        return path
    matches = sorted(p for p in (path / "definitions").rglob("*.json") if not name or p.stem == name)
    if len(matches) == 1:
        return matches[0]
    names = ", ".join(p.stem for p in sorted((path / "definitions").rglob("*.json"))[:20])
    raise UsageError(
        f"{path} has {len(matches)} such definitions: name one with {path}:NAME ({names or 'there are none'})"
    )


def workloads_of(path: Path, text: str) -> tuple[str, dict[str, bytes]]:
    """Read the lines of its workloads, empty where there are none, and copies of them and their tensors by name."""
    try:
        definition = json.loads(text)
    except (ValueError, RecursionError):
        return "", {}  # the import says what is wrong with it
    name = definition.get("name") if isinstance(definition, dict) else None
    root = next((p.parent for p in path.resolve().parents if p.name == "definitions"), path.resolve().parent)
    files = sorted((root / "workloads").rglob(f"{name}.jsonl")) if isinstance(name, str) and "/" not in name else []
    if not files:
        return "", {}
    try:
        content = files[0].read_bytes()
        if len(content) > MOST_LINES_BYTES:
            raise UsageError(f"{files[0]} is larger than {MOST_LINES_BYTES:,} bytes")
        lines = content.decode()
    except UnicodeDecodeError:
        raise UsageError(f"{files[0]} is not text") from None
    except OSError as error:
        raise UsageError(f"{files[0]} cannot be read ({error.strerror})") from None
    return lines, {"original.jsonl": content, **_stored(root, lines)}


def _stored(root: Path, lines: str) -> dict[str, bytes]:
    """Read the tensors that the workloads name, as long as they are small."""
    tensors: dict[str, bytes] = {}
    for line in filter(str.strip, lines.splitlines()):
        try:
            inputs = json.loads(line)["workload"]["inputs"].values()
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue
        for tensor_input in inputs:
            name = _stored_name(tensor_input)
            path = root / name
            if not name or name in tensors or not path.is_file() or not path.resolve().is_relative_to(root):
                continue
            if sum(map(len, tensors.values())) + path.stat().st_size <= MOST_STORED_BYTES:
                tensors[name] = path.read_bytes()
    return tensors


def _stored_name(tensor_input: Any) -> str:
    is_stored = (
        isinstance(tensor_input, dict)
        and tensor_input.get("type") == "safetensors"
        and isinstance(tensor_input.get("path"), str)
    )
    return tensor_input["path"].removeprefix("./") if is_stored else ""
