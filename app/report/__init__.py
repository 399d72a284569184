"""One self-contained HTML page of a run, from ledger and artefacts only: no script, nothing loaded from outside."""

from app.report.page import render, write_report
from app.report.story import Extras, Story, tell

__all__ = ["Extras", "Story", "render", "tell", "write_report"]
