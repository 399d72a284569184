"""The place that a task was taken from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Origin:
    """A file of somebody else, and the form of task that it is."""

    source: str  # the file, as it was named
    form: str = ""  # pytorch, numpy, kernelbench, hip, ...
    commit: str = ""  # of the repository, where it was in one
    licence: str = ""  # SPDX, where one was found
    digest: str = ""  # SHA-256 of the file's bytes
    file: str = ""  # the copy of it in the task's folder
    frozen: str = ""  # numbers that its launches hand over, and that nothing varies
    parameters: str = ""  # of the function or kernel, as `tasks.parameters` reads them

    @property
    def is_kernel(self) -> bool:
        """True where the file is a kernel, so that the task's first seed is it, and not one that was generated."""
        return self.form == "hip"
