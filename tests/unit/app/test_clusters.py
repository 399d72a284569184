"""Addresses of clusters: forms, settings, and what a bridge may know of this process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.clusters import checked_cluster, cluster_address
from app.settings import load_settings
from records.errors import SettingsError, UsageError


@pytest.mark.parametrize("on", ["ray", "ray:local", "ray:head.example:6379", "ray:[::1]:6379"])
def test_a_cluster_is_named_in_three_ways(on: str) -> None:
    assert checked_cluster(on) == on


@pytest.mark.parametrize("on", ["ray:", "ray:head", "ray:head:port", "ray:head:0", "ray:head:70000", "ray:http://a:1"])
def test_another_form_is_refused_in_one_sentence(on: str) -> None:
    with pytest.raises(UsageError, match="ray:HOST:PORT, not"):
        checked_cluster(on)


def test_the_address_is_the_option_before_the_setting(tmp_path: Path) -> None:
    settings = load_settings(cache_folder=tmp_path, ray_address="a:1")
    assert cluster_address(settings, "ray:b:2").address == "b:2"
    assert cluster_address(settings, "ray").address == "a:1"
    assert cluster_address(load_settings(cache_folder=tmp_path), "ray").address == "auto"
    with pytest.raises(SettingsError, match="RAY_ADDRESS is HOST:PORT or auto"):
        cluster_address(load_settings(cache_folder=tmp_path, ray_address="nowhere"), "ray")


def test_a_cluster_of_ones_own_has_a_lab_station_a_core(tmp_path: Path) -> None:
    resources = cluster_address(load_settings(cache_folder=tmp_path), "ray:local", "mi300x").local
    assert resources is not None and resources["lab"] == len(os.sched_getaffinity(0))
    few = cluster_address(load_settings(cache_folder=tmp_path, ray_lab=2), "ray:local", "mi300x").local
    assert few is not None and few["lab"] == 2


def test_no_secret_of_this_process_reaches_the_bridge(tmp_path: Path) -> None:
    environment = cluster_address(load_settings(cache_folder=tmp_path), "ray").environment
    assert not [
        name for name in environment if "KEY" in name or "SECRET" in name or name.startswith("KERNEL_SCIENTIST_")
    ]
    assert environment["RAY_USAGE_STATS_ENABLED"] == "0" and "PATH" in environment
