"""What must hold of the tree as a whole: size, forbidden constructs, pins, and documents that say what is true."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

from app.settings import PREFIX, Settings
from kernel_scientist.own_packages import NAMES

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("kernel_scientist", *NAMES)
SKIPPED = {
    *[".git", ".venv", ".cache", "__pycache__", "runs", ".hypothesis", ".env", ".coverage"],
    *[".langgraph_api", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".import_linter_cache"],
}
LINES_A_FILE, LINES_A_FUNCTION = 300, 50
EDGE = "app/cli.py"  # the one place that may catch everything
WALL = "graph/firewall.py"  # keeps a fault over one answer within its experiment


def files() -> Iterator[Path]:
    """Every file of the project, as paths relative to its root."""
    for folder, names, found in os.walk(ROOT):
        names[:] = sorted(n for n in names if n not in SKIPPED and not n.endswith(".egg-info"))
        for name in sorted(set(found) - SKIPPED):
            if not name.endswith((".pyc", ".gz", ".png")):
                yield Path(folder, name).relative_to(ROOT)


def text(path: Path | str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


ALL = list(files())
PRODUCT = [p for p in ALL if p.suffix == ".py" and p.parts[0] in (*PACKAGES, "benchmarks", "examples")]
OF_PACKAGE = {name: [p for p in PRODUCT if p.parts[0] == name] for name in (*PACKAGES, "benchmarks", "examples")}
TESTS = [p for p in ALL if p.suffix == ".py" and p.parts[0] == "tests"]
MARKDOWN = [p for p in ALL if p.suffix == ".md" and p.parts[0] != "knowledge"]
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def offences(pattern: str, paths: list[Path]) -> list[str]:
    wanted = re.compile(pattern)
    return [
        f"{p}:{n}: {line.strip()[:100]}"
        for p in paths
        for n, line in enumerate(text(p).splitlines(), 1)
        if wanted.search(line)
    ]


def test_no_path_of_a_person_or_a_workplace_is_in_the_tree() -> None:
    assert offences(r"/(?:home|Users)/[a-z]|/root/\w|/work/(?:main|shared)", ALL) == []


def test_no_package_registry_is_named_by_its_address() -> None:
    shapes = r"(?:pypi|pythonhosted|npmjs)\.(?:org|io|com)|(?:index|find)[-_](?:url|links)\s*="
    assert offences(shapes, ALL) == []


def test_no_secret_is_in_the_tree() -> None:
    shapes = (
        r"\bsk-(?:proj-|ant-)?[A-Za-z0-9]{24,}|\blsv2_[a-z]{2}_[0-9a-f]{32}|\bAKIA[0-9A-Z]{16}\b"
        r"|BEGIN [A-Z ]*PRIVATE KEY-"
    )
    assert offences(shapes, ALL) == []


@pytest.mark.parametrize("name", ["constraints.txt", "constraints-dev.txt"])
def test_pins_hold_names_versions_and_hashes_only(name: str) -> None:
    shape = re.compile(r"[a-z0-9._-]+==[0-9][0-9a-z.]* \\|    --hash=sha256:[0-9a-f]{64}(?: \\)?")
    assert [line for line in text(name).splitlines() if not shape.fullmatch(line)] == []


def test_every_direct_dependency_is_pinned() -> None:
    project = tomllib.loads(text("pyproject.toml"))
    for name, wanted in (
        ("constraints.txt", project["project"]["dependencies"]),
        ("constraints-dev.txt", project["dependency-groups"]["dev"]),
    ):
        pinned = set(re.findall(r"^([a-z0-9._-]+)==", text(name), re.MULTILINE))
        assert {re.split(r"[<>=\[]", line)[0] for line in wanted} <= pinned


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("modules", OF_PACKAGE.values(), ids=OF_PACKAGE)
def test_files_and_functions_are_short(modules: list[Path]) -> None:
    assert [str(path) for path in modules if text(path).count("\n") > LINES_A_FILE] == []
    long = [
        f"{path}: {node.name}: {node.end_lineno - node.lineno + 1} lines"
        for path in modules
        for node in ast.walk(parsed(ROOT / path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno >= LINES_A_FUNCTION
    ]
    assert long == []


def test_files_of_tests_are_short() -> None:
    assert [str(path) for path in TESTS if text(path).count("\n") > LINES_A_FILE] == []


def forbidden(path: Path, root: Path = ROOT) -> Iterator[str]:
    """The constructs the house rules exclude from one file of the product."""
    below_app = path.parts[0] in PACKAGES and path.parts[0] != "app"
    for node in ast.walk(parsed(root / path)):
        where = f"{path}:{getattr(node, 'lineno', 0)}: "
        match node:
            case ast.Import(names=names):
                modules = [alias.name for alias in names]
            case ast.ImportFrom(module=str() as module):
                modules = [module]
            case _:
                modules = []
        if {m.split(".")[0] for m in modules} & {"pickle", "cPickle", "marshal", "shelve", "dill", "cloudpickle"}:
            yield where + "an unsafe serialiser"
        match node:
            case ast.keyword(arg="shell", value=ast.Constant(value=True)):
                yield where + "shell=True"
            case ast.Attribute(value=ast.Name(id="os"), attr="system" | "popen"):
                yield where + "a shell string"
            case ast.Attribute(value=ast.Name(id="os"), attr="environ" | "getenv" | "environb") if below_app:
                yield where + "the environment is read below app/"
            case ast.ExceptHandler(body=[*_, ast.Raise(exc=None)]):
                pass  # cleans up and lets the exception go on
            case ast.ExceptHandler(type=None):
                yield where + "a bare except"
            case ast.ExceptHandler(type=caught) if (
                path.as_posix() not in (EDGE, WALL)
                and caught is not None
                and {n.id for n in ast.walk(caught) if isinstance(n, ast.Name)} & {"Exception", "BaseException"}
            ):
                yield where + "catches everything"


@pytest.mark.parametrize("modules", OF_PACKAGE.values(), ids=OF_PACKAGE)
def test_no_forbidden_construct(modules: list[Path]) -> None:
    assert modules and [found for path in modules for found in forbidden(path)] == []


def test_the_rule_book_finds_what_it_forbids(tmp_path: Path) -> None:
    (tmp_path / "graph").mkdir()
    bad = Path("graph/bad.py")
    (tmp_path / bad).write_text(
        "import os, pickle\nfrom subprocess import run\nrun('ls', shell=True)\nos.getenv('X')\n"
        "try:\n    os.system('ls')\nexcept (ValueError, Exception):\n    pass\n",
        encoding="utf-8",
    )
    assert len(list(forbidden(bad, tmp_path))) == 5


def test_tests_use_real_fakes_and_no_patching() -> None:
    others = [p for p in TESTS if p.name != Path(__file__).name]
    shapes = r"unittest\.mock|\bMagicMock\b|\bmocker\b|monkeypatch\.(?:set|del)(?:attr|item)\b"
    assert offences(shapes, others) == []  # what monkeypatch may change is the environment and the working directory


def test_documents_link_to_what_exists() -> None:
    broken = []
    for path in MARKDOWN:
        for link in LINK.findall(FENCE.sub("", text(path))):
            if link.startswith(("http://", "https://", "mailto:")):
                continue
            name, _, anchor = link.partition("#")
            target = (ROOT / path.parent / name) if name else ROOT / path
            if not target.exists() or (anchor and anchor not in anchors(target)):
                broken.append(f"{path}: {link}")
    assert broken == []


def anchors(path: Path) -> set[str]:
    """Heading anchors as GitHub makes them."""
    headings = HEADING.findall(FENCE.sub("", path.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


def test_modules_and_scripts_named_in_documents_exist() -> None:
    named = {m for p in MARKDOWN for m in re.findall(r"python3? -m ((?:benchmarks|sandbox|app|graph)[\w.]*)", text(p))}
    missing = [
        m
        for m in named
        if not (ROOT / (m.replace(".", "/") + ".py")).exists() and not (ROOT / m.replace(".", "/")).is_dir()
    ]
    assert missing == []


def test_paths_named_in_documents_exist() -> None:
    """Paths in backticks that begin with one of our folders; NAME and ROLE in capitals stand for any name."""
    rooms = "|".join((*PACKAGES, "tests", "benchmarks", "docs", "examples"))
    path = re.compile(rf"`((?:{rooms})/[\w./*-]+)`")
    named = {(p, name) for p in MARKDOWN if p.name != "CHANGELOG.md" for name in path.findall(text(p))}
    missing = [
        f"{p}: {name}"
        for p, name in sorted(named)
        if not any(ROOT.glob(re.sub(r"\b_?[A-Z]{3,}\b", "*", name).rstrip("/")))
    ]
    assert named
    assert missing == []


def section(heading: str) -> str:
    """The README's section of that name."""
    parts = re.split(r"^## ", text("README.md"), flags=re.MULTILINE)
    return next(part for part in parts if part.startswith(heading))


def test_every_result_in_the_readme_names_its_command() -> None:
    rows = [line for line in section("Results").splitlines() if line.startswith("|")][2:]
    assert rows
    for row in rows:
        command = re.search(r"`(?:python -m benchmarks\.(\w+)|\./kernel-scientist [^`]+|\.ci/run)[^`]*`", row)
        assert command, row
        assert command[1] is None or Path(f"benchmarks/{command[1]}.py") in ALL, row


def file_map() -> dict[str, list[str]]:
    """The README's file map: folder ("" for the root) to the names or globs listed under it."""
    found: dict[str, list[str]] = {"": []}
    folders: list[tuple[int, str]] = [(-1, "")]
    block = re.search(r"```text\n(.*?)```", section("File map"), re.DOTALL)
    assert block
    for line in block[1].splitlines():
        names = re.split(r"\s{2,}", line.strip())[0].split()
        depth = len(line) - len(line.lstrip())
        while folders[-1][0] >= depth:
            folders.pop()
        parent = folders[-1][1]
        found[parent] += names
        if len(names) == 1 and names[0].endswith("/"):
            folders.append((depth, parent + names[0]))
            found[parent + names[0]] = []
    return found


def test_everything_in_the_file_map_exists() -> None:
    missing = [
        folder + name
        for folder, names in file_map().items()
        for name in names
        if not any(ROOT.glob((folder + name).rstrip("/")))
    ]
    assert missing == []


def test_every_folder_and_every_top_level_file_is_in_the_file_map() -> None:
    """A folder is covered by its own line, or by that of a folder whose subfolders the map does not list."""
    listed = file_map()

    def is_covered(folder: Path) -> bool:
        parent = ""
        for part in folder.parts:
            folders = [name.rstrip("/") for name in listed.get(parent, []) if name.endswith("/")]
            if parent and not folders:
                return True
            if not any(fnmatch(part, name) for name in folders):
                return False
            parent += part + "/"
        return True

    assert [str(f) for f in sorted({p.parent for p in ALL}) if not is_covered(f)] == []
    assert [p.name for p in ALL if len(p.parts) == 1 and p.name not in listed[""]] == []


def test_the_sample_settings_name_every_setting_and_no_other() -> None:
    sampled = set(re.findall(r"^#? ?([A-Z][A-Z0-9_]+)=", text(".env.example"), re.MULTILINE))
    aliases = {name: field.validation_alias for name, field in Settings.model_fields.items()}
    known = {str(getattr(a, "choices", [a])[0]) if a else PREFIX + name.upper() for name, a in aliases.items()}
    assert sampled == known


def test_agents_read_one_file() -> None:
    assert text("CLAUDE.md").strip() == "@AGENTS.md"


@pytest.mark.parametrize("name", ["kernel-scientist", ".ci/run", ".ci/pin", ".ci/release"])
def test_scripts_parse_and_are_executable(name: str) -> None:
    shell = "bash" if "bash" in text(name).splitlines()[0] else "sh"
    assert os.access(ROOT / name, os.X_OK)
    assert subprocess.run([shell, "-n", str(ROOT / name)], check=False).returncode == 0
