"""The skill for coding agents has the open format, and the tools, commands and documents that it names exist."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from pathlib import Path

from typer.testing import CliRunner

from app.cli import app

ROOT = Path(__file__).resolve().parents[2]
SKILL = ROOT / "skills" / "gpu-kernel-scientist" / "SKILL.md"
KEYS = {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}


def served_tools() -> set[str]:
    """The names that the server registers, read from its text: the SDK may not be installed."""
    tree = ast.parse((ROOT / "app/mcp/tool_server.py").read_text())
    lists = [n for n in tree.body if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) in ("READING", "ACTING")]
    return {name for each in lists for name in ast.literal_eval(each.value)}


def test_its_head_has_the_open_format() -> None:
    _, head, body = SKILL.read_text(encoding="utf-8").split("---\n", 2)
    fields = dict(re.findall(r"^([\w-]+): ?(.*)$", head, re.MULTILINE))
    assert set(fields) <= KEYS
    assert fields["name"] == SKILL.parent.name and re.fullmatch(r"[a-z0-9-]{1,64}", fields["name"])
    assert 0 < len(fields["description"]) <= 1024 and len(fields["compatibility"]) <= 500
    assert body.count("\n") < 500


def test_skill_and_document_name_all_tools_and_no_other() -> None:
    tools = served_tools()
    for text in (SKILL.read_text(encoding="utf-8"), (ROOT / "docs/mcp.md").read_text(encoding="utf-8")):
        rows = text.partition("## The tools")[2].partition("\n## ")[0].splitlines()
        named = {n for row in rows if row.startswith("| `") for n in re.findall(r"`(\w+)`", row.split("|")[1])}
        assert named == tools


def test_the_commands_of_the_skill_exist() -> None:
    for command in set(re.findall(r"`(?:kernel-scientist )([a-z]+)", SKILL.read_text(encoding="utf-8"))):
        assert CliRunner().invoke(app, [command, "--help"]).exit_code == 0, command


def test_the_snippets_of_the_document_parse() -> None:
    text = (ROOT / "docs/mcp.md").read_text(encoding="utf-8")
    snippets = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL)]
    snippets += [tomllib.loads(block) for block in re.findall(r"```toml\n(.*?)```", text, re.DOTALL)]
    servers = [next(iter(s.values()))["kernel-scientist"] for s in snippets]
    assert len(servers) == 3 and all(server["args"][:2] == ["mcp", "--workspace"] for server in servers)
