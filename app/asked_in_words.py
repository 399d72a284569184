"""A request in words, as a chat has it: the code, a file or a task that is named, and what the code does not say.

Nothing is guessed from prose: code is what stands in a fenced block or begins as code does, a file and a task are words
that name one, and all else is written `NAME=VALUE`, as the command line takes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.optimising import PLAN
from app.user_text import user_task
from records.allowance import NAMES
from records.errors import UsageError

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

    from app.settings import Settings

ANSWERED = "run_id"  # in an answer's further fields: the run that it tells the result of
EXAMPLE = (
    "say what is to become faster: a task's name, such as row_softmax, a file of this machine, such as ops.py:gelu, or "
    "the code in a fenced block; and what the code does not say, such as x=f32[rows,cols] rows=4096 cols=1024"
)
_BEGINNING = (
    r"(?:def|class)\s+\w+\s*[(:]",
    r"import\s+\w",
    r"from\s+[\w.]+\s+import\s",
    r"@\w",
    r"#\s*(?:include|define|pragma)\b",
    re.escape(PLAN),
    r"__global__",
    r"extern\s+\"C\"",
    r"template\s*<",
)
_CODE = re.compile(rf"(?:^|:)[ \t]*(?={'|'.join(_BEGINNING)})", re.MULTILINE)
_VALUE = r"(?:[^\s,;\"'`\[\](){}]|\[[^\[\]]*\]|\([^()]*\)|[\"'])+"  # brackets may hold commas and spaces
_SETTING = re.compile(rf"[\"']?\b([A-Za-z_]\w*)[\"']?\s*(?:=|(?<=[\"'])\s*:)\s*({_VALUE})")
_WORD = re.compile(r"[^\s`\"'<>()\[\]{},;]+")
_CODE_SUFFIXES = {".py": "python", ".hip": "hip", ".cpp": "hip", ".cc": "hip", ".cu": "cuda", ".cuh": "cuda"}


def request_in_words(settings: Settings, messages: Sequence[BaseMessage]) -> dict[str, Any]:
    """Read what people asked for since the last result, the later words over the earlier; empty for nothing.

    UsageError for a file that is named and is not there.
    """
    request: dict[str, Any] = {}
    for message in _unanswered(messages):
        read = _read(settings, message.text)
        if _is_reference(request, read):
            read = {**{n: v for n, v in read.items() if n not in ("language", "function")}, "reference": read["source"]}
            read["source"] = request["source"]
        elif read.get("task") or read.get("source"):  # another thing than before, of which nothing else was said
            request = {name: value for name, value in request.items() if name not in ("task", "source", "reference")}
        request = {**request, **read, **_merged(request, read)}
    return request


def _is_reference(request: dict[str, Any], read: dict[str, Any]) -> bool:
    """Tell whether a function is what was missing: what the kernel before it computes."""
    is_open = request.get("language") in ("hip", "cuda") and not request.get("reference")
    return is_open and bool(read.get("source")) and read.get("language") == "python"


def _merged(earlier: dict[str, Any], later: dict[str, Any]) -> dict[str, Any]:
    """Merge what both say of single sizes, limits and inputs."""
    both: dict[str, Any] = {
        name: {**earlier[name], **later[name]} for name in ("sizes", "limits") if name in earlier and name in later
    }
    if "inputs" in earlier and "inputs" in later:
        both["inputs"] = list(
            {text.partition("=")[0]: text for text in (*earlier["inputs"], *later["inputs"])}.values()
        )
    return both


def _unanswered(messages: Sequence[BaseMessage]) -> Iterator[BaseMessage]:
    answers = [n for n, m in enumerate(messages) if m.type == "ai" and m.additional_kwargs.get(ANSWERED)]
    return (m for m in messages[max(answers, default=-1) + 1 :] if m.type == "human")


def _read(settings: Settings, text: str) -> dict[str, Any]:
    codes, prose = _split(text)
    request = _settings_in(prose)
    kernels = [code for code in codes if "__global__" in code[1]]
    functions = [code for code in codes if code not in kernels]
    if codes:
        language, source = (kernels or functions)[0]
        request |= {"source": source, "language": language}
        if kernels and functions:
            request["reference"] = functions[0][1]
        return request
    return {**request, **_named(settings, _SETTING.sub(" ", prose))}


def _split(text: str) -> tuple[list[tuple[str, str]], str]:
    """Return the code in a text, each piece with its language, and the prose around it."""
    from agents.model.structured_output import blocks

    fenced = [(label, body) for label, body in blocks(text) if body.strip()]
    if fenced:
        prose = text
        for _, body in fenced:
            prose = prose.replace(body.rstrip("\n"), " ")
        return [(_language(label, body), body) for label, body in fenced if _CODE.search(body)], prose
    code = _CODE.search(text)
    if code is None:
        return [], text
    body = text[code.end() :].rstrip() + "\n"
    return [(_language("", body), body)], text[: code.start()]


def _language(label: str, body: str) -> str:
    if "__global__" not in body and PLAN not in body:
        return "python"
    is_cuda = label in ("cuda", "cu") or re.search(r"#\s*include\s*[<\"]cuda", body)
    return "cuda" if is_cuda else "hip"


def _settings_in(prose: str) -> dict[str, Any]:
    """Read `NAME=VALUE`: a field of a request, a limit, else a size where it is a whole number, else an input."""
    from graph.run_limits import Limits

    limit_names, request = {f.name for f in fields(Limits)}, dict[str, Any]()
    for name, text in _SETTING.findall(prose):
        value = text.strip("\"'.:!?")
        is_whole = value.isdecimal()
        if name in limit_names and re.fullmatch(r"\d+\.?\d*", value):
            request.setdefault("limits", {})[name] = int(value) if is_whole else float(value)
        elif name in (*NAMES, "seed"):
            request[name] = int(value) if is_whole else _number(name, value)
        elif name in ("grid", "block", "outputs"):
            request.setdefault(name, []).append(value)
        elif name in ("target", "on", "author", "function", "tolerance", "name", "language"):
            request[name] = value
        elif name == "approve":
            request[name] = value.lower() in ("true", "yes", "1")
        elif is_whole:
            request.setdefault("sizes", {})[name] = int(value)
        else:
            request.setdefault("inputs", []).append(f"{name}={value}")
    return request


def _number(name: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise UsageError(f"{name} is a number, not {value[:40]!r}") from None


def _named(settings: Settings, prose: str) -> dict[str, Any]:
    """Find the file or the task that the words name; a second file, of Python, is the reference of a kernel."""
    from tasks.loader import task_names

    shipped, files, request = task_names(), list[tuple[str, str, str]](), dict[str, Any]()
    for word in map(str, _WORD.findall(prose)):
        name = word.rstrip(".:!?")
        path, _, function = name.partition(":")
        if Path(path).suffix in _CODE_SUFFIXES:
            files.append((_CODE_SUFFIXES[Path(path).suffix], _text(Path(path)), function))
        elif not request and (name in shipped or (Path(name) / "task.toml").is_file()):
            request["task"] = name
        elif not request and (folder := user_task(settings, name)):
            request["task"] = folder
    kernels, functions = [f for f in files if f[0] != "python"], [f for f in files if f[0] == "python"]
    if not files:
        return request
    language, source, function = (kernels or functions)[0]
    request = {"source": source, "language": language, **({"function": function} if function else {})}
    return {**request, "reference": functions[0][1]} if kernels and functions else request


def _text(path: Path) -> str:
    from imports.hosts.local_headers import with_headers
    from imports.readers import KERNELS, text_of

    if not path.is_file():
        raise UsageError(f"there is no file {path} on the server's machine: give its path there, or the code itself")
    text = text_of(path)
    return with_headers(path, text, text_of)[0] if path.suffix in KERNELS else text
