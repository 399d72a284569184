"""Leave out what passed with the same files, with `--unless-passed`: a change runs the tests that it can break.

A file of tests/unit or tests/integration hangs on itself, its folder, the tests' support and data, and each entry of
the repository's root that it names, or what it imports of the tests, or one of those packages; a kernel of
tests/kernels on the judge's packages, its test and its own text. The digest of all these is the key of what passed.
Whatever failed, was skipped for want of a program, or stands elsewhere, runs each time.
"""

from __future__ import annotations

import hashlib
import platform
import re
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path

import pytest

from records.files import write_whole
from tests.support.compiler_cache import FOLDER, NEEDED
from tests.support.mentioned_modules import reached

ROOT = Path(__file__).resolve().parents[2]
RECORD = FOLDER / "passed.txt"
WIDEST = "not long False"  # the mode in which all tests ran but for the long ones
LONGEST = 20_000  # keys that are kept
PINS = ("constraints.txt", "constraints-dev.txt", "pyproject.toml")
ALWAYS = (*PINS, "tests/conftest.py", "tests/data", "tests/support")
WITH_ALL = "tests/support/compiler_cache.py"
FOLDERS = (ROOT / "tests" / "unit", ROOT / "tests" / "integration")
PARTS = frozenset(path.name for path in (ROOT / "tests").iterdir() if path.is_dir())
_HIDDEN = (".ci", ".github")  # other names with a dot are caches and Git's
ENTRIES = frozenset(
    path.name
    for path in ROOT.iterdir()
    if path.name in _HIDDEN or (not path.name.startswith(".") and path.name not in ("tests", "runs"))
)
PACKAGES = frozenset(name for name in ENTRIES if (ROOT / name / "__init__.py").is_file())
JUDGE = ("sandbox", "tasks", "records")
ADDRESS = re.compile(r" at 0x[0-9a-f]+")


class PassedBefore:
    """The plugin, in the process that hands out the tests and in those that run them."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        given = getattr(config, "workerinput", {}).get("passed_before")
        self.passed = frozenset(_recorded() if given is None else given.split())
        self.failed: set[str] = set()
        self.ran: set[str] = set()  # the keys of files and kernels
        self.is_whole = True  # no process of tests ended before its tests did

    @cached_property
    def mode(self) -> str:
        """How tests are chosen within a file."""
        option = self.config.option
        return f"{option.markexpr} {option.without_compiler} {option.keyword}".rstrip()

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: object) -> None:
        """Give a process of tests what is known here, so that all of them collect the same."""
        node.workerinput["passed_before"] = " ".join(self.passed)  # type: ignore[attr-defined]

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Leave out a file of which all tests passed."""
        if not collection_path.name.startswith("test_") or not is_keyed(collection_path):
            return None
        modes = {self.mode, WIDEST} if self.mode.startswith("not long") else {self.mode}
        return any(file_key(collection_path, mode) in self.passed for mode in modes) or None

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave out the kernels that passed, and give the others their keys."""
        kept, known = list[pytest.Item](), list[pytest.Item]()
        for item in items:
            key = _key(item, self.mode)
            item.user_properties.append(("passed_key", key))
            (known if key in self.passed else kept).append(item)
        if known:
            config.hook.pytest_deselected(items=known)
            items[:] = kept

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what ran, and what did not pass."""
        key = dict(report.user_properties).get("passed_key")
        if key is None:
            self.is_whole = False
        elif key:
            self.ran.add(str(key))
            if report.failed or (report.skipped and NEEDED not in str(report.longrepr)):
                self.failed.add(str(key))

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Record what passed, where every test had its turn."""
        if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and self.passed:
            session.exitstatus = pytest.ExitCode.OK
        is_over = exitstatus in (0, 1) and not session.shouldstop and not session.shouldfail
        if is_over and self.new - self.passed and not hasattr(self.config, "workerinput"):
            lines = [*(key for key in _recorded() if key not in self.new), *sorted(self.new)]
            write_whole(RECORD, "\n".join(lines[-LONGEST:]).encode())

    @property
    def new(self) -> set[str]:
        """The keys of what ran and passed."""
        return self.ran - self.failed if self.is_whole else set()

    def pytest_report_header(self) -> str:
        """Say how much is known."""
        return f"files and kernels that passed before as they are now are left out ({len(self.passed)} are known)"


def is_keyed(path: Path) -> bool:
    """Whether the tests of a file are left out when all of them passed."""
    return any(path.is_relative_to(folder) for folder in FOLDERS)


def file_key(path: Path, mode: str) -> str:
    """The key of a file of tests in a mode of choosing tests."""
    return _digest(mode, path.relative_to(ROOT).as_posix(), *(_content(part) for part in sorted(hangs_on(path))))


def hangs_on(path: Path) -> set[str]:
    """Paths, below the root, of all that the tests of a file can be broken by."""
    own = path.relative_to(ROOT)
    beside = [other for other in path.parent.iterdir() if not other.name.startswith(("test_", "__pycache__"))]
    wanted = {own.as_posix(), *ALWAYS, *(other.relative_to(ROOT).as_posix() for other in beside if other.is_file())}
    texts = [path, *_tests_with(path)]
    wanted |= {text.relative_to(ROOT).as_posix() for text in texts}
    wanted |= {f"tests/{part}" for text in texts for part in _parts(text)}
    waiting = {entry for text in (*texts, *(p for p in beside if p.suffix == ".py")) for entry in _entries(text)}
    while waiting:
        entry = waiting.pop()
        wanted.add(entry)
        if entry in PACKAGES:
            waiting |= _of_package(entry) - wanted
    return wanted | ({"tests/kernels"} if "benchmarks" in wanted else set())


def _key(item: pytest.Item, mode: str) -> str:
    """The key of a test's file, of a kernel with its test, or "" for a test that runs each time."""
    if is_keyed(item.path):
        return file_key(item.path, mode)
    parameters = getattr(getattr(item, "callspec", None), "params", None)
    if not item.path.is_relative_to(ROOT / "tests" / "kernels") or not parameters:
        return ""
    told = [ADDRESS.sub("", repr(value)) for value in parameters.values()]
    told += [value.read_text(encoding="utf-8") for value in parameters.values() if isinstance(value, Path)]
    beside = sorted(path.relative_to(ROOT).as_posix() for path in item.path.parent.glob("*.py"))
    others = "tests/kernels/exploits/tasks"
    return _digest(item.nodeid, *told, *(_content(part) for part in (*JUDGE, *ALWAYS, *beside, others)))


@cache
def _tests_with(path: Path) -> frozenset[Path]:
    """The files of the tests that come with one of them; not what only asks where this user's caches are."""
    names = reached(path.relative_to(ROOT).as_posix(), "tests/", {WITH_ALL})
    return frozenset(ROOT / name for name in names if name.startswith("tests/"))


@cache
def _entries(path: Path) -> frozenset[str]:
    """What a file names of the root's folders and files."""
    text = path.read_text(encoding="utf-8")
    return frozenset(re.findall(r"[\w.-]*\w", text) + re.findall(r"\w+", text)) & ENTRIES


@cache
def _parts(path: Path) -> frozenset[str]:
    """What a file names of the tests' folders."""
    text = path.read_text(encoding="utf-8")
    return frozenset(re.findall(r"tests[./](\w+)", text) + re.findall(r'"(\w+)"', text)) & PARTS


@cache
def _of_package(name: str) -> frozenset[str]:
    """The packages that a package imports."""
    imports = re.compile(r"^\s*(?:from|import) (\w+)", re.MULTILINE)
    files = (ROOT / name).rglob("*.py")
    return frozenset(found for path in files for found in imports.findall(path.read_text(encoding="utf-8"))) & PACKAGES


@cache
def _content(part: str) -> str:
    """The digest of a file or a folder with all its files, names included."""
    root = ROOT / part
    files = ((path, hashlib.sha256(path.read_bytes()).hexdigest()) for path in _files(root))
    return _digest(*(f"{path.relative_to(ROOT)} {digest}" for path, digest in files))


def _files(root: Path) -> Iterator[Path]:
    if root.is_file():
        yield root
    for path in sorted(root.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path


def _digest(*parts: str) -> str:
    words = "\0".join((platform.python_version(), platform.machine(), *parts))
    return hashlib.sha256(words.encode()).hexdigest()[:24]


def _recorded() -> list[str]:
    try:
        return RECORD.read_text(encoding="ascii").split()
    except FileNotFoundError:
        return []
