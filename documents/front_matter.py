"""Fields at the top of a text: between lines of `---` or, as TOML, of `+++`, or a JSON object, as Hugo has them."""

from __future__ import annotations

import json
import re
import tomllib

_FIELD = re.compile(r"[\"']?(\w[\w .-]{,80}?)[\"']?\s{,20}:\s*(?:[|>][+-]?\d?$)?(.*)")  # `|` or `>`: on the next lines
_TOML = re.compile(r"\+\+\+[ \t]*\n(.*?\n)\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL)
MOST_FIELDS = 20_000  # characters of front matter that a program wrote


def front_matter(text: str) -> tuple[dict[str, str], str]:
    """Return the fields and the text behind them; one that only starts with a rule keeps it as its own."""
    if text.startswith(("+++", "{")):
        return _machine_written(text)
    if not text.startswith("---"):
        return {}, text
    lines = text.split("\n")
    fields: dict[str, str] = {}
    name = ""
    for number, line in enumerate(lines[1:60], start=1):
        if line.strip() in ("---", "..."):
            return fields, "\n".join(lines[number + 1 :])
        match = _FIELD.fullmatch(line.strip())
        item = line.strip().removeprefix("- ") if line.startswith((" ", "-")) else ""
        if match and not line.startswith((" ", "-")):
            name = match[1].lower()
            fields[name] = match[2].strip().strip("\"'")
        elif item and name:
            fields[name] = f"{fields[name]}\n{item}".strip()  # a list or a nested field, one entry a line
        elif line.strip() and not line.startswith("#"):
            break
    return {}, text


def _machine_written(text: str) -> tuple[dict[str, str], str]:
    head = text[:MOST_FIELDS]
    try:
        match = _TOML.match(head)
        table, end = (tomllib.loads(match[1]), match.end()) if match else json.JSONDecoder().raw_decode(head)
        lists = {name.lower(): value if isinstance(value, list) else [value] for name, value in table.items()}
        fields = {name: "\n".join(map(str, entries)) for name, entries in lists.items()}
    except (ValueError, RecursionError):
        return {}, text
    body = text[end:].lstrip()
    is_data = not body or body.startswith("{")  # a file of nothing else, or of an object a line
    return ({}, text) if is_data else (fields, body)
