"""The promise of every imputer about every table, on random mixed tables of every library."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from imputers.family import THOROUGH as IMPUTERS
from imputers.promise import WISHES, check_promise
from strategies import plans
from tables import Plan, build

wishes = st.fixed_dictionaries({name: st.sampled_from(WISHES[name]) for name in WISHES})


@pytest.mark.parametrize("imputer", IMPUTERS, ids=lambda imputer: imputer.__name__)
@settings(max_examples=2 * settings.default.max_examples)
@given(plan=plans(), wishes=wishes)
def test_any_table_is_filled_or_refused(imputer: Any, plan: Plan, wishes: dict[str, Any]) -> None:
    check_promise(imputer, build(plan), wishes)
