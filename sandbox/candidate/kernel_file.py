"""A kernel file that a person names: its text, its language, and a kernel in it."""

from __future__ import annotations

from pathlib import Path

from records.errors import PlanError, UsageError

MAX_FILE_BYTES = 1_000_000
_FORMS = {
    "triton": 'a docstring that opens with """/*+++ and holds the plan in TOML up to +++*/',
    "assembly": "the comment /*+++ ... +++*/ that holds the plan in TOML, and then .amdgcn_target",
}


def read_source(path: Path) -> str:
    """Read the kernel file as text; UsageError in one sentence when that cannot be."""
    try:
        if path.is_file() and path.stat().st_size > MAX_FILE_BYTES:
            raise UsageError(f"{path} is larger than {MAX_FILE_BYTES:,} bytes, which no kernel file is")
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text; give a .hip source file") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror})") from None


def read_kernel(file: Path) -> tuple[str, Path, str]:
    """Read `FILE` or `FILE.py:NAME`: its text, its path, and the name; UsageError where it is no such kernel file."""
    from sandbox.candidate.language import SUFFIXES, language_of

    path, name = _split(file)
    source, language = read_source(path), SUFFIXES.get(path.suffix)
    if language and language_of(source) != language:
        raise UsageError(f"{path} has no launch plan: begin it with {_FORMS[language]}")
    if name:
        _check_name(source, path, name)
    return source, path, name


def _split(file: Path) -> tuple[Path, str]:
    """`kernel.py:NAME` as a path and a name; a file whose own name has a colon is itself."""
    if file.exists() or ":" not in file.name:
        return file, ""
    path, _, name = str(file).rpartition(":")
    return Path(path), name


def _check_name(source: str, path: Path, name: str) -> None:
    from sandbox.candidate.parse import parse

    try:
        launched = {launch.kernel for launch in parse(source).plan.launches if not launch.is_step}
    except PlanError:
        return  # the verdict says what is wrong with the plan
    if name not in launched:
        raise UsageError(f"the plan of {path} does not launch {name!r}; it launches {', '.join(sorted(launched))}")
