"""The wheel of PyTorch for the processor, pinned with its hash: what is fetched, and where it can be installed."""

from __future__ import annotations

import importlib.util
import platform
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from records.errors import MachineError, UsageError

COMMAND = "kernel-scientist setup torch"
PINS = Path(__file__).resolve().parents[1] / "imports" / "torch_pins.toml"


@dataclass(frozen=True)
class TorchWheel:
    """The pins for one Python."""

    version: str
    digest: str
    index: str
    needs: tuple[str, ...]  # lines of requirements
    download_mb: int
    installed_mb: int

    @property
    def requirement(self) -> str:
        """A line of requirements."""
        return f"torch=={self.version} --hash=sha256:{self.digest}"


def torch_wheel(system: str = "", tag: str = "") -> TorchWheel:
    """Read the pins for this machine; UsageError for a system or a Python that no wheel is pinned for."""
    pins: dict[str, Any] = tomllib.loads(PINS.read_text(encoding="utf-8"))
    system = system or f"{platform.system()} {platform.machine()}"
    tag = tag or f"cp{sys.version_info.major}{sys.version_info.minor}"
    wheel, digests = pins["wheel"], pins["wheel"]["python"]
    if system != "Linux x86_64":
        raise UsageError(f"PyTorch's wheel is pinned for Linux on x86-64, and this is {system}")
    if tag not in digests:
        known = ", ".join(f"3.{t.removeprefix('cp3')}" for t in digests)
        plain = wheel["version"].partition("+")[0]
        raise UsageError(
            f"a wheel of PyTorch is pinned for Python {known}, and .venv has {platform.python_version()}: remove .venv "
            f"and have python{known.split(', ')[0]} before other ones on the path when it is set up again, or install "
            f"one that is not pinned: {sys.executable} -m pip install torch=={plain} --index-url {pins['index']}"
        )
    needs = tuple(f"{n}=={v} --hash=sha256:{digest}" for n, (v, digest) in pins["needs"].items())
    return TorchWheel(wheel["version"], digests[tag], pins["index"], needs, pins["download_mb"], pins["installed_mb"])


def refuse_full_disk(wheel: TorchWheel, folder: Path) -> None:
    """MachineError where the folder's disk, or that of scratch files, has no room for it."""
    for place, mb in (
        (folder, wheel.installed_mb + wheel.download_mb),
        (Path(tempfile.gettempdir()), wheel.download_mb),
    ):
        free_mb = shutil.disk_usage(place).free >> 20
        if free_mb < mb:
            raise MachineError(f"{place} has {free_mb:,} MB free, and PyTorch needs {mb:,} MB there: free some space")


def installed_version() -> str:
    """Return the version that is there; empty for none."""
    if importlib.util.find_spec("torch") is None:
        return ""
    from importlib.metadata import version

    return version("torch")


def install(wheel: TorchWheel) -> None:
    """Install the wheel and what it needs into this environment; MachineError where the installer fails."""
    _install((wheel.requirement,), "--index-url", wheel.index)
    _install(wheel.needs)


def _install(requirements: tuple[str, ...], *options: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "requirements.txt"
        file.write_text("\n".join(requirements) + "\n", encoding="utf-8")
        words = ["--no-deps", "--require-hashes", "--only-binary", ":all:", "-r", str(file), *options]
        process = subprocess.run([*_installer(), *words], stdout=sys.stderr, check=False)
    if process.returncode:
        raise MachineError(
            f"PyTorch could not be installed (the installer's words are above); connect this machine to {options[-1]}"
            if options
            else "what PyTorch needs could not be installed; the installer's words are above"
        )


def _installer() -> list[str]:
    """Return the command of pip, or of uv in an environment that uv has made."""
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip", "install", "--no-input", "--disable-pip-version-check"]
    uv = shutil.which("uv")
    if uv is None:
        raise MachineError(f"{sys.prefix} has no pip and there is no uv: install uv, and run this again")
    return [uv, "pip", "install", "--python", sys.executable]
