"""The page of a run, live or in one file. It reads records and nothing else."""

from app.page.run_reader import RunReader
from app.page.sheets import Extras
from app.page.single_file import write_report

__all__ = ["Extras", "RunReader", "write_report"]
