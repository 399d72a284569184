"""The words of a command, and what of the environment goes with it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from app.program.author_command import command_of, kept_command, program_environment, program_words
from app.program.author_command import refuse_served_program as refuse_served
from app.settings import Settings
from records.errors import SettingsError, UsageError


def test_a_command_is_split_and_its_files_are_found_from_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my agent.py").write_text("", encoding="utf-8")
    words = program_words(Settings(), f"command:{sys.executable} 'my agent.py' --turns 3")
    assert words == (sys.executable, str(tmp_path / "my agent.py"), "--turns", "3")
    name, config = kept_command(words)
    assert name == f"command:{Path(sys.executable).name}" and command_of(config) == words


@pytest.mark.parametrize(
    ("author", "said"),
    [
        ("command:", "needs a program"),
        ("command:no-such-program-here", "cannot be found"),
        ("command:sh 'a", "cannot be split"),
        ("command:sh sk-canary-secret-99", "holds a secret"),
    ],
)
def test_a_command_that_cannot_be_is_refused(author: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        program_words(Settings(api_key="sk-canary-secret-99"), author)


def test_a_program_gets_what_is_named_and_nothing_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_KEY", "its own")
    monkeypatch.setenv("OTHER", "not named")
    variables = program_environment(Settings(author_environment="AGENT_KEY"))
    assert variables["AGENT_KEY"] == "its own" and "OTHER" not in variables
    for name in ("KERNEL_SCIENTIST_API_KEY", "NOT_SET_ANYWHERE"):
        with pytest.raises(SettingsError, match=name):
            program_environment(Settings(author_environment=name))


def test_a_server_starts_only_programs_that_its_settings_name() -> None:
    refuse_served(Settings(), "llm")
    refuse_served(Settings(author_programs="claude, codex"), "command:codex exec -")
    with pytest.raises(UsageError, match="AUTHOR_PROGRAMS"):
        refuse_served(Settings(author_programs="claude"), "command:sh -c x")
