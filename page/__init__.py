"""The page of a run, live or in one file. It reads records and nothing else."""

from page.run_reader import RunReader
from page.sheets import Extras
from page.single_file import write_report

__all__ = ["Extras", "RunReader", "write_report"]
