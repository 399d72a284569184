"""A file with its own headers in the place of their includes, since a candidate is one file; what lies beside it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

from sandbox.candidate.header_names import is_header

_INCLUDED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">][^\n]*', re.M)
_COMMON = ("Common", "common", "include", "inc", "util", "utils")
MOST_UP, MOST_DATA = 4, 16 << 20
SOURCES = (".c", ".cpp", ".cc", ".cu", ".hip")


def with_headers(path: Path, text: str, read: Callable[[Path], str]) -> tuple[str, list[str]]:
    """Give the text, and the headers that are neither its own nor the compiler's, whose includes are empty lines.

    Its own are those of its folder, of the folders that its Makefile names, and of common folders above.
    """
    root, visited, missing = path.resolve().parent, {path.resolve()}, list[str]()
    folders = [root, *header_folders(path)]

    def included(text: str, folder: Path) -> str:
        def header(match: re.Match[str]) -> str:
            name = match[1]
            if is_header(name) and not (folder / name).is_file():
                return match[0]
            for position in (folder, *folders):
                target = (position / name).resolve()
                if target.is_file() and any(target.is_relative_to(f.resolve()) for f in folders):
                    if target in visited:
                        return ""
                    visited.add(target)
                    return included(read(target), target.parent)
            missing.append(name)
            return ""

        return _INCLUDED.sub(header, text)

    return included(text, root), missing


def header_folders(path: Path) -> list[Path]:
    """List the folders that a Makefile beside the file names, and common ones above it."""
    folder, folders = path.resolve().parent, list[Path]()
    for words in re.findall(r"-I[ \t]*([\w./$(){}-]+)", _makefile(path)):
        if "$" not in words and (folder / words).is_dir():
            folders.append((folder / words).resolve())
    above = folder
    for _ in range(MOST_UP):
        above = above.parent
        folders += [above / name for name in _COMMON if (above / name).is_dir()]
        if (above / ".git").exists():
            break
    return folders


def _makefile(path: Path) -> str:
    for name in ("Makefile", "makefile", "GNUmakefile"):
        if text := _small_text(path.resolve().parent / name):
            return text
    return ""


def _small_text(file: Path) -> str:
    if not file.is_file() or file.stat().st_size >= 1 << 16:
        return ""
    return file.read_text(encoding="utf-8", errors="replace")


def run_arguments(path: Path) -> list[list[str]]:
    """List the arguments with which a Makefile or a script called `run` beside the file runs its program."""
    rows, scripts = list[list[str]](), [path.resolve().parent / name for name in ("run", "run.sh")]
    text = "\n".join(_small_text(p) for p in scripts)
    for line in [*_makefile(path).splitlines(), *(f"\t{row.strip()}" for row in text.splitlines())]:
        match = re.match(r"\t(?:[^#\n]*?[ \t])?\.?/(?:\$[({]\w+[)}]|[\w./-]+)[ \t]*([^|&;>\n]*)", line)
        if match and not re.search(r"\brm\b|\$\(CC\)|-o\b", line):
            try:
                words = shlex.split(match[1])
            except ValueError:
                continue
            if not any("$" in w for w in words):
                rows.append(words)
    return rows


def data_files(path: Path, words: Sequence[str]) -> dict[str, Path]:
    """Map names in the program's folder to files of data: those beside the source or below it, and named ones."""
    folder, files, total = path.resolve().parent, dict[str, Path](), 0
    named_files = {Path(w).name: folder / w for w in words if not w.isdigit() and (folder / w).is_file()}
    beside = {str(p.relative_to(folder)): p for pattern in ("*", "*/*") for p in sorted(folder.glob(pattern))}
    for name, file in {**named_files, **beside}.items():
        if file.is_file() and not file.is_symlink() and file.suffix not in (*SOURCES, ".h", ".hpp", ".cuh", ".o"):
            total += file.stat().st_size
            if total > MOST_DATA:
                break
            files[name] = file
    return files


def other_sources(path: Path) -> list[Path]:
    """List the sources beside a file that have no `main` of their own."""
    rows = list[Path]()
    for file in sorted(path.resolve().parent.iterdir()):
        if (
            file.suffix in SOURCES
            and file != path.resolve()
            and file.stat().st_size < 1 << 20
            and not file.is_symlink()
        ):
            text = file.read_text(encoding="utf-8", errors="replace")
            if not re.search(r"\bmain\s*\(", text):
                rows.append(file)
    return rows
