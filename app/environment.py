"""Versions and machine in a few words, for reports: no names of people or machines, no absolute paths."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version

from app.settings import Settings
from records.errors import ScientistError

PACKAGES = ("gpu-kernel-scientist", "langgraph", "langchain-openai", "chromadb", "numpy")


def describe(settings: Settings) -> dict[str, str]:
    """What the results of this machine depend on."""
    found = {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor cores": str(os.cpu_count() or 0),
        "compiler": _compiler(settings),
    }
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _compiler(settings: Settings) -> str:
    from sandbox.amdgcn.toolchain import find_toolchain

    try:
        return find_toolchain(settings.cache_folder / "toolchain").version
    except ScientistError:
        return "none found"
