"""The classes of sources by the names that requests give them. In the import's own process only."""

from __future__ import annotations

from collections.abc import Mapping

from imports.config_source import ConfigSource
from imports.definition_source import DefinitionSource
from imports.kernel_source import KernelSource
from imports.popcorn_source import PopcornSource
from imports.region_source import RegionSource
from imports.source_file import TorchSource

SOURCES: Mapping[str, type[TorchSource]] = {
    "file": TorchSource,
    "config": ConfigSource,
    "definition": DefinitionSource,
    "popcorn": PopcornSource,
    "kernel": KernelSource,
    "region": RegionSource,
}
