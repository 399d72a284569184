"""Chromium for the browser tests: found where it starts, installed where apt-get may, else a sentence."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
ASKED = "from app.chromium import browser_path, install_browser; print(install_browser()); print(browser_path())"
STARTS = "#!/bin/sh\nexit 0\n"
REFUSES = "#!/bin/sh\necho 'get it from another store'\nexit 1\n"
INSTALLS = (  # after its lists were read, as in a fresh image
    '#!/bin/sh\nif [ "$1" = update ]; then echo > {0}/lists; exit 0; fi\n'
    "if [ ! -e {0}/lists ]; then echo 'E: no package chromium'; exit 100; fi\n"
    "echo '#!/bin/sh' > {0}/chromium; /bin/chmod +x {0}/chromium\n"
)


def asked(folder: Path, **programs: str) -> list[str]:
    """The answers of a process that finds these programs and no others."""
    for name, text in programs.items():
        (folder / name.replace("_", "-")).write_text(text.replace("{0}", str(folder)), encoding="utf-8")
        (folder / name.replace("_", "-")).chmod(0o755)
    done = subprocess.run([sys.executable, "-c", ASKED], cwd=ROOT, env={"PATH": str(folder)}, capture_output=True)
    return done.stdout.decode().splitlines()


def test_a_browser_that_starts_is_taken(tmp_path: Path) -> None:
    assert asked(tmp_path, chromium=REFUSES, google_chrome=STARTS) == ["", str(tmp_path / "google-chrome")]


def test_without_apt_the_reason_is_a_sentence(tmp_path: Path) -> None:
    reason, path = asked(tmp_path, chromium_browser=REFUSES)
    assert (path, "skipped" in reason and "apt-get" in reason) == ("None", True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may install a package")
def test_apt_installs_it_and_says_why_it_cannot(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    assert asked(tmp_path / "full", apt_get=INSTALLS) == ["", str(tmp_path / "full" / "chromium")]
    (tmp_path / "none").mkdir()
    reason, path = asked(tmp_path / "none", apt_get=REFUSES)
    assert (path, "another store" in reason) == ("None", True)
