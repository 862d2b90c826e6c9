"""Settings shared by all tests."""

import os
from typing import Any

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


def pytest_collection_modifyitems(config: pytest.Config, items: list[Any]) -> None:
    """Leave out what the family draws no lot for, except in a soak."""
    if os.environ.get("HYPOTHESIS_PROFILE") == "soak":
        return
    from imputers.family import is_sampled

    params = [getattr(item, "callspec", None) for item in items]
    kept = [
        spec is None or is_sampled(item.originalname, item.name, spec.params)
        for item, spec in zip(items, params, strict=True)
    ]
    config.hook.pytest_deselected(items=[i for i, k in zip(items, kept, strict=True) if not k])
    items[:] = [item for item, k in zip(items, kept, strict=True) if k]
