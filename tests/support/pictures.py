"""The pictures of the documents: the demo at terminals of three widths, and its page; the lineage of a made-up run.

python -m tests.support.pictures [FOLDER]     (Debian: chromium, pngquant)
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI
from rich.text import Text

from page import RunReader
from records.artefacts import ArtefactStore
from records.ledger import Ledger
from tests.support.browser import Browser
from tests.support.long_run import LongRun
from tests.support.page_rules import rule
from tests.support.page_server import served
from tests.support.page_visits import sheet, visit
from tests.support.terminal import Screen, shown

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs" / "pictures"
WIDTHS = {360: 2300, 1280: 1640, 2560: 1500}  # of the window in pixels, and the height of its picture of the page
LETTER, EDGE = 7.83, 12  # pixels: the width of a letter at 13 px, and what is left free beside the text
TERMINAL = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; background: {background}; color: {foreground}; }}
pre {{ margin: 0; padding: 12px; font: 13px/1.4 "DejaVu Sans Mono", monospace; white-space: pre; }}
{stylesheet}
</style><main><pre>{code}</pre></main>
"""


def main(folder: Path) -> None:
    """Take all pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="demo-") as name, Browser() as browser:
        place = Path(name)
        for width in WIDTHS:
            runs = place / str(width)  # of its own: what one run has judged, another in the same folder need not
            runs.mkdir()
            screen = demo(runs, int((width - 2 * EDGE) / LETTER))
            terminal_picture(browser, screen, width, folder / f"terminal-{width}.png")
        page_pictures(browser, runs / "runs", folder)
        lineage_picture(browser, place / "made-up", folder)
    shrink(sorted(folder.glob("*.png")))


def demo(place: Path, columns: int) -> Screen:
    """Run the demo as a user does, in a folder of its own."""
    return shown([sys.executable, "-m", "app", "demo"], columns, place, {"PYTHONPATH": str(ROOT)})


def terminal_picture(browser: Browser, screen: Screen, width: int, path: Path) -> None:
    """Draw the screen with its colours."""
    console = Console(record=True, width=screen.columns, file=io.StringIO(), force_terminal=True)
    for line in screen.lines:
        console.print(Text.from_ansi(line), soft_wrap=True)
    page = path.with_suffix(".html")
    page.write_text(console.export_html(theme=DIMMED_MONOKAI, code_format=TERMINAL), encoding="utf-8")
    browser.size(width, 400)
    browser.open(page.as_uri())
    browser.size(width, int(browser.run("Math.ceil(document.documentElement.scrollHeight)")))
    browser.picture(path)
    page.unlink()


def page_pictures(browser: Browser, runs: Path, folder: Path) -> None:
    """Show the newest run's first view on each width."""
    with served(runs) as page:
        with Ledger(runs / "ledger.db") as ledger:
            run = ledger.runs()[-1]
        for width, height in WIDTHS.items():
            browser.size(width, height)
            browser.open(page.address)
            visit(browser, run.id, "overview")
            browser.wait(f"{rule('badPlots')}.length === 0")
            browser.picture(folder / f"page-{width}.png")


def lineage_picture(browser: Browser, place: Path, folder: Path) -> None:
    """Show the candidates of a made-up run, and what the best one changed."""
    place.mkdir()
    long_run = LongRun(place)
    long_run.write(90)
    best = RunReader(long_run.ledger, ArtefactStore(place / "artefacts"), long_run.run.id).book().head.best_id
    long_run.ledger.close()
    with served(place) as page:
        browser.size(1280, 820)
        browser.open(page.address)
        visit(browser, long_run.run.id, "candidates", best)
        sheet(browser, "changes")
        browser.wait("document.querySelectorAll('.sheet tr.add').length")
        browser.picture(folder / "page-candidates.png")


def shrink(paths: list[Path]) -> None:
    """Write them again with few colours, where the program for it is there."""
    if pngquant := shutil.which("pngquant"):
        subprocess.run([pngquant, "--force", "--skip-if-larger", "--strip", "--ext", ".png", "48", *paths], check=False)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else PICTURES)
