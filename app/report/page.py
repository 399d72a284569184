"""From a story to the page: autoescaped, unprintable characters made visible, secrets and home paths removed."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from app.redaction import redacted
from app.report.difference import difference, excerpt, listing
from app.report.drawing import draw_curve, draw_tree, format_us, state_of
from app.report.story import Story
from app.screen import heading
from records.errors import LedgerError
from records.files import write_whole
from records.quantity import counted

FOLDER = Path(__file__).parent
_HIDDEN = {
    *range(0x00, 0x09),
    0x0B,
    *range(0x0C, 0x20),
    *range(0x7F, 0xA0),  # control characters
    0x061C,
    *range(0x200B, 0x2010),
    *range(0x2028, 0x202F),
    *range(0x2060, 0x2070),
    0xFEFF,  # invisible, or reordering
}


def render(story: Story) -> str:
    """The page as text."""
    blot = _blotter(story)
    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: blot(value) if isinstance(value, str) and not isinstance(value, Markup) else value,
    )
    environment.filters.update(
        us=format_us, times=_times, count=_count, signed=_signed, usd=_usd, share=_share, heading=heading
    )
    environment.globals.update(
        counted=counted, listing=listing, excerpt=excerpt, difference=difference, state_of=state_of
    )
    css = (FOLDER / "style.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    return environment.get_template("page.html.j2").render(
        story=story,
        run=story.run,
        extras=story.extras,
        best=story.best,
        coverage=story.coverage,
        isolation=_isolation(story),
        seed=story.seed,
        curve=draw_curve(story),
        tree=draw_tree(story),
        css=Markup(css),
        css_hash=Markup(digest),
    )


def _isolation(story: Story) -> str:
    """The rungs that confined compiler and kernels of this run where they were judged; "" where none is known."""
    found = dict.fromkeys(row.evaluation.isolation for row in story.rows if row.evaluation is not None)
    return "; ".join(filter(None, found))


def write_report(story: Story, path: Path) -> Path:
    """Write the page beside its place and rename it there; LedgerError when the folder cannot be written to."""
    text = render(story)
    try:
        write_whole(path, text.encode(), is_public=True)
    except OSError as error:
        raise LedgerError(
            f"the report {path} cannot be written ({error.strerror}); choose another place with --out"
        ) from None
    return path


def visible(text: str) -> str:
    """Replace characters that hide or reorder text by their code points, so that a reader sees what a compiler sees."""
    return "".join(f"⟨U+{ord(c):04X}⟩" if ord(c) in _HIDDEN else c for c in text)


def _blotter(story: Story) -> Callable[[str], str]:
    return lambda text: visible(redacted(text, story.extras.secrets, story.extras.home))


def _times(value: float | None) -> str:
    """A speed-up: 2.41×."""
    return "–" if value is None else f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f}×"


def _count(value: float) -> str:
    """A count with thousands set apart."""
    return f"{value:,.0f}".replace(",", "\u2009") if value == int(value) or abs(value) >= 100 else f"{value:,.3g}"


def _signed(value: float) -> str:
    """A whole number with its sign, a true minus."""
    return f"{value:+.0f}".replace("-", "\u2212")


def _usd(value: float) -> str:
    return f"${value:,.2f}" if value >= 0.1 or value == 0 else f"${value:.4f}"


def _share(value: float | None) -> str:
    """A fraction as a percentage."""
    return "–" if value is None else f"{value * 100:.1f} %" if value < 0.1 else f"{value * 100:.0f} %"
