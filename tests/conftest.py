"""What every test gets: an environment without the keys and settings of whoever runs it, and GPU tests where one is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.compiler_cache import FOLDER, toolchain, withhold

TESTS = Path(__file__).parent
PRIVATE = ("KERNEL_SCIENTIST_", "OPENAI_", "LANGSMITH_", "LANGCHAIN_", "LANGGRAPH_", "OTEL_")
DEVICES = (Path("/dev/kfd"), Path("/dev/nvidiactl"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--without-compiler", action="store_true", help="skip each test when it asks for the compiler")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--without-compiler"):
        withhold()


@pytest.fixture(scope="session")
def compiler_cache() -> Path:
    """KERNEL_SCIENTIST_CACHE_FOLDER for the programs that a test starts, with the compiler's part warmed."""
    toolchain()
    return FOLDER


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.upper().startswith(PRIVATE):
            monkeypatch.delenv(name)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    has_device = any(device.exists() for device in DEVICES)
    for item in items:
        if item.path.is_relative_to(TESTS / "gpu"):
            item.add_marker(pytest.mark.gpu)
        if item.get_closest_marker("gpu") and not has_device:
            item.add_marker(pytest.mark.skip(reason="no GPU on this machine"))
