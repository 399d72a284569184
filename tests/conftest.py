"""What every test gets: an environment without the keys and settings of whoever runs it, and GPU tests where one is."""

from __future__ import annotations

import contextlib
import fcntl
import gc
import os
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

# Threads of numpy's that wait for each other spin: beside other test processes a product costs four times its time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# No test meets a certificate, and every client of an endpoint reads all that the machine trusts: 20 ms each.
os.environ["SSL_CERT_FILE"] = str(Path(__file__).parent / "data" / "authority.pem")
os.environ.pop("OPENBLAS_CORETYPE", None)  # which no cage hands on: sums there would end in other bits than here

from tests.support.compiler_cache import FOLDER, toolchain, withhold
from tests.support.postgres_server import PostgresServer, programs, serving

PRIVATE = ("KERNEL_SCIENTIST_", "OPENAI_", "LANGSMITH_", "LANGCHAIN_", "LANGGRAPH_", "OTEL_")
MEMORY = Path("/dev/shm")
ROOMY_BYTES = 4 << 30  # several times what the tests of all processes hold at one moment
DEVICES = (Path("/dev/kfd"), Path("/dev/nvidiactl"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--without-compiler", action="store_true", help="skip each test when it asks for the compiler")
    parser.addoption("--unless-passed", action="store_true", help="leave out what passed with the same files")


def pytest_configure(config: pytest.Config) -> None:
    if holds_folders(MEMORY):  # ledgers wait for the disk at each commit: half the time of the tests that have one
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))
    if config.getoption("--without-compiler"):
        withhold()
    if config.getoption("--unless-passed"):
        from tests.support.passed_before import PassedBefore

        config.pluginmanager.register(PassedBefore(config))
    with contextlib.suppress(ImportError):  # a GPU box may not have it
        from hypothesis import HealthCheck, settings

        # A machine with other work takes any time for an example.
        settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
        settings.load_profile("patient")


def holds_folders(place: Path) -> bool:
    """True where the folders of the tests fit into this place, and programs can be started there."""
    if not os.access(place, os.W_OK | os.X_OK):
        return False
    found = os.statvfs(place)
    return not found.f_flag & os.ST_NOEXEC and found.f_bavail * found.f_frsize >= ROOMY_BYTES


@contextlib.contextmanager
def after_another() -> Iterator[None]:
    """In a fresh clone one process compiles the files of tests, and the others wait for what it has compiled."""
    if "PYTEST_XDIST_WORKER" not in os.environ or (Path(__file__).parent / "integration" / "__pycache__").exists():
        yield
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "collection.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            fcntl.flock(lock, fcntl.LOCK_SH)
        yield


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collected tests live to the end: no look for cycles while they are made, and none among them afterwards."""
    gc.disable()
    try:
        with after_another():
            return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session")
def compiler_cache() -> Path:
    """KERNEL_SCIENTIST_CACHE_FOLDER for the programs that a test starts, with the compiler's part warmed."""
    toolchain()
    return FOLDER


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A server of this process of tests; each test takes a database of its own."""
    pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
    if programs() is None:
        pytest.skip("the programs of PostgreSQL are not installed")
    with serving() as server:
        yield server


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.upper().startswith(PRIVATE):
            monkeypatch.delenv(name)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    has_device = any(device.exists() for device in DEVICES)
    for item in items:
        if item.nodeid.startswith("tests/gpu/"):
            item.add_marker(pytest.mark.gpu)
        if item.get_closest_marker("gpu") and not has_device:
            item.add_marker(pytest.mark.skip(reason="no GPU on this machine"))
