"""The numbers that a seed's launches hand over: named where the task has a scalar for them, told where they stay."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

import numpy as np

from agents.source import SourceError, look

ARGUMENTS = re.compile(r"^args = \[(.*)\]$", re.M)
END = "+++*/"


def with_scalars(source: str, scalars: Mapping[str, float]) -> str:
    """Put a scalar's name where a launch hands over its value; a value that two scalars have stays."""
    values = {n: np.float32(v) for n, v in scalars.items()}

    def named(match: re.Match[str]) -> str:
        return f"args = [{', '.join(map(word, _words(match[1])))}]"

    def word(text: str) -> str:
        if not _is_real(text):
            return text
        names = [n for n, v in values.items() if v == np.float32(text)]
        return json.dumps(names[0]) if len(names) == 1 else text

    head, end, code = source.partition(END)
    return ARGUMENTS.sub(named, head) + end + code


def built_in(source: str) -> str:
    """Name the real numbers that the launches of a seed hand over: `scale = 1.111`; empty for none."""
    try:
        file = look(source)
    except SourceError:
        return ""
    texts = dict[str, None]()
    for launch in [x for entry in file.plan["launch"] for x in (entry, *entry.get("body", []))]:
        names = [p.name for k in file.kernels if k.name == launch.get("kernel") for p in k.parameters]
        for number, value in enumerate(launch.get("args", [])):
            real = value if isinstance(value, float) else None
            text = value.partition(":")[0] if isinstance(value, str) and value.endswith((":f32", ":f64")) else ""
            if real is not None or _is_real(text):
                name = names[number] if number < len(names) else f"argument {number} of {launch.get('kernel')}"
                texts[f"{name} = {text or real!r}"] = None
    return ", ".join(texts)


def _words(text: str) -> list[str]:
    """Take a flat list apart; one with structs stays in one piece."""
    return [text] if "[" in text else [part.strip() for part in text.split(",")] if '"' not in text else _quoted(text)


def _quoted(text: str) -> list[str]:
    return [match[0] for match in re.finditer(r'"(?:[^"\\]|\\.)*"|[^,\s]+', text)]


def _is_real(text: str) -> bool:
    return re.fullmatch(r"[+-]?(\d+\.\d*|\.\d+|\d+)([eE][+-]?\d+)?", text) is not None and not text.isdigit()
