"""Settings shared by all tests."""

import os
from collections import defaultdict
from typing import Any
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "default",
    deadline=None,
    max_examples=60,
    derandomize=bool(os.environ.get("CI")),  # the same cases in every run of CI; new ones elsewhere
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "soak", parent=settings.get_profile("default"), max_examples=2_000, derandomize=False
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """An option for environments in which another run has been through everything."""
    parser.addoption(
        "--most-of-each", type=int, metavar="N",
        help="of each test with parameters run N of its cases, drawn by their names",
    )  # fmt: skip


def pytest_collection_modifyitems(config: pytest.Config, items: list[Any]) -> None:
    """Leave out what the family draws no lot for, except in a soak, and cases beyond the most."""
    kept = set(_of_the_family(items))
    most = config.getoption("most_of_each")
    if most is not None:
        kept &= set(_drawn(items, most))
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]


def _of_the_family(items: list[Any]) -> list[Any]:
    if os.environ.get("HYPOTHESIS_PROFILE") == "soak":
        return items
    from imputers.family import is_sampled

    specs = ((item, getattr(item, "callspec", None)) for item in items)
    return [
        item
        for item, spec in specs
        if spec is None or is_sampled(item.originalname, item.name, spec.params)
    ]


def _drawn(items: list[Any], most: int) -> list[Any]:
    cases = defaultdict(list)
    for item in items:
        cases[item.nodeid.partition("[")[0]].append(item)
    lots = (sorted(found, key=lambda item: crc32(item.name.encode())) for found in cases.values())
    return [item for found in lots for item in found[:most]]
