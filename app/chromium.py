"""Chromium for the tests of the page: that of this machine, or Debian's package where apt may install it."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache

NAMES = ("chromium", "google-chrome", "google-chrome-stable", "chromium-browser")
START_S = 60.0  # most that a browser takes to name its version, on a machine that is busy
APT_S = 600.0
INSTALL = ("install", "--yes", "--no-install-recommends", "chromium")


@cache
def browser_path() -> str | None:
    """Find a browser that starts; Ubuntu has a script of this name that only prints where to get one."""
    return next((path for name in NAMES if (path := shutil.which(name)) and _starts(path)), None)


def install_browser() -> str:
    """Install Chromium where there is none; a sentence on why the browser tests are skipped, empty where they run."""
    if browser_path() is not None:
        return ""
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        return "the browser tests are skipped: there is no Chromium, and it is installed by apt-get as root only"
    for arguments in (INSTALL, ("update",), INSTALL):  # the lists of a fresh image are empty
        failure = _failure([apt, *arguments])
        browser_path.cache_clear()
        if not failure and browser_path() is not None:
            return ""
    return f"the browser tests are skipped: apt-get installed no Chromium that starts{failure and f' ({failure})'}"


def _starts(path: str) -> bool:
    return not _failure([path, "--version"], START_S)


def _failure(argv: list[str], patience_s: float = APT_S) -> str:
    """Run a command; its last line where it failed, else nothing."""
    try:
        done = subprocess.run(
            argv,
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=patience_s,
            check=False,
        )
    except OSError as error:
        return str(error.strerror)
    except subprocess.TimeoutExpired:
        return f"{argv[0]} took longer than {patience_s:.0f} s"
    lines = done.stdout.decode("utf-8", errors="replace").strip().splitlines()
    return (lines or ["no output"])[-1].strip() if done.returncode else ""
