"""The author `command:PROGRAM ARG...`: read, checked, and kept with its run."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from records.errors import SettingsError, UsageError

if TYPE_CHECKING:
    from app.settings import Settings
    from records.experiment import Run

PREFIX = "command:"
KEY = "author_command"  # in a run's configuration
MOST_NAME = 40
PASSED = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS")


def is_program(author: str) -> bool:
    """Tell whether an author is a program, by the name that its run has."""
    return author.startswith(PREFIX)


def program_words(settings: Settings, author: str) -> tuple[str, ...]:
    """Split the command as a shell does, and find the program; UsageError where it cannot be started.

    A word that is a file here is made absolute: the program begins in another folder.
    """
    text = author.removeprefix(PREFIX)
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"the command {text[:200]!r} cannot be split into words: {error}") from None
    if not words:
        raise UsageError("--author command: needs a program, as in --author 'command:claude -p'")
    program = shutil.which(str(Path(words[0]).expanduser()))
    if program is None:
        raise UsageError(f"the program {words[0][:200]!r} of --author cannot be found or executed; give its path")
    if any(secret in text for secret in settings.secrets()):
        raise UsageError(
            "the command of --author holds a secret, and a run's records keep the command: put it into the environment "
            "and name the variable in KERNEL_SCIENTIST_AUTHOR_ENVIRONMENT"
        )
    program_environment(settings)  # which refuses a variable that is not there
    rest = [str(path.absolute()) if (path := Path(word)).is_file() else word for word in words[1:]]
    return str(Path(program).absolute()), *rest


def kept_command(words: tuple[str, ...]) -> tuple[str, Mapping[str, str]]:
    """Return the author's name in the records, and what the run's configuration keeps of the command."""
    return f"{PREFIX}{Path(words[0]).name[:MOST_NAME]}", {KEY: json.dumps(words)}


def command_of(config: Mapping[str, Any]) -> tuple[str, ...]:
    """Read the command of a run."""
    return tuple(json.loads(str(config[KEY])))


def stated_author(run: Run) -> str:
    """Return the author as a request states it."""
    return f"{PREFIX}{shlex.join(command_of(run.config))}" if is_program(run.author) else run.author


def refuse_served_program(settings: Settings, author: str) -> None:
    """UsageError where a request to a server names a program that the settings do not allow."""
    allowed = [name.strip() for name in settings.author_programs.split(",") if name.strip()]
    if is_program(author) and author.removeprefix(PREFIX).split(" ")[0] not in allowed:
        raise UsageError(
            "this server starts no such program as author; its settings name those that it may in "
            "KERNEL_SCIENTIST_AUTHOR_PROGRAMS"
        )


def program_environment(settings: Settings) -> dict[str, str]:
    """Return all that the program gets of this environment: what finds programs, and what the user names.

    SettingsError for a variable of this program's own, or for one that is not set.
    """
    from app.settings import PREFIX as OWN

    named = [name.strip() for name in settings.author_environment.split(",") if name.strip()]
    for name in named:
        if name.upper().startswith(OWN):
            raise SettingsError(f"the variable {name[:80]} is this program's own, which no program as author gets")
        if name not in os.environ:
            raise SettingsError(
                f"the variable {name[:80]} of {OWN}AUTHOR_ENVIRONMENT is not set; set it, or leave it out"
            )
    return {name: os.environ[name] for name in (*PASSED, *named) if name in os.environ}
