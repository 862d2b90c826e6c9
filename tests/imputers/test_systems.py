"""The contract for the other systems: the core for each of them, the rest by turns."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from imputers import test_contract as contract
from imputers.containers import CONTAINERS
from imputers.family import SYSTEMS, quick

import greyfill
from greyfill.exceptions import NotFittedError

CORE = (
    contract.test_refit_and_clone_give_the_same,
    contract.test_refit_on_another_table_forgets_the_first,
    contract.test_transform_leaves_the_model_as_it_was,
    contract.test_layout_in_memory_does_not_matter,
    contract.test_fit_then_transform_of_a_complete_table_changes_nothing,
    contract.test_model_of_a_complete_table_fills_new_rows,
    contract.test_the_result_is_a_copy,
    contract.test_constant_column_is_filled_with_its_constant,
    contract.test_empty_columns_are_dropped_with_a_warning,
    contract.test_empty_columns_are_kept_on_request,
    contract.test_column_empty_in_transform_but_not_in_fit,
    contract.test_a_failed_fit_changes_nothing,
    contract.test_one_by_one,
    contract.test_nothing_but_holes,
    contract.test_unseen_categories_pass_through,
    contract.test_without_labels,
    contract.test_continuous_labels,
    contract.test_many_classes_raise_no_warning,
    contract.test_rows_as_lists,
    contract.test_no_warning_in_ordinary_use,
)
LABELS = (
    lambda y: np.array([np.nan if v < 0 else v for v in y]),
    lambda y: np.array([None if v < 0 else f"c{v}" for v in y], dtype=object),
)

systems = pytest.mark.parametrize("imputer", SYSTEMS, ids=lambda imputer: imputer.__name__)


def by_turns(items: Any, imputer: Any, count: int) -> list[Any]:
    """Some of the items for each system; together the systems see all of them."""
    start = SYSTEMS.index(imputer) * count
    items = list(items)
    return [items[(start + place) % len(items)] for place in range(count)]


@systems
@pytest.mark.parametrize("check", CORE, ids=lambda check: check.__name__[5:])
def test_core(imputer: Any, check: Any) -> None:
    check(imputer)


@systems
def test_order_of_rows_does_not_matter(imputer: Any) -> None:
    contract.test_order_of_rows_does_not_matter(imputer, 0)


@systems
def test_containers(imputer: Any) -> None:
    for container in by_turns(CONTAINERS.values(), imputer, 4):
        contract.test_container_is_kept_and_only_holes_are_written(imputer, container)
    contract.test_one_row_gives_what_a_batch_gives(imputer, container)


@systems
def test_one_row_gives_what_a_batch_gives_in_a_wider_table(imputer: Any) -> None:
    contract.test_one_row_gives_what_a_batch_gives_in_a_wider_table(imputer)
    contract.test_a_row_without_an_observed_cell_gives_what_a_batch_gives(imputer, True)


@systems
def test_patterns_of_holes(imputer: Any) -> None:
    for pattern in by_turns(contract.PATTERNS, imputer, 8):
        contract.test_holes_in_every_pattern(imputer, pattern)


@systems
def test_labels(imputer: Any) -> None:
    for spell in by_turns(contract.TWO_CLASSES.values(), imputer, 3):
        contract.test_labels_of_any_type(imputer, spell)
    for spell in LABELS:
        contract.test_rows_without_a_label_are_filled_like_new_rows(imputer, spell)


@systems
def test_progress_is_reported(imputer: Any, capsys: Any) -> None:
    X, y = contract.numbers()
    quick(imputer, verbose=1).fit(X, y)
    told = capsys.readouterr().err
    silent = imputer in (greyfill.HotDeckImputer, greyfill.ColdDeckImputer)
    assert (f"[{imputer.__name__}]" in told) is not silent


@systems
def test_a_saved_file_of_a_table_without_values(imputer: Any, tmp_path: Path) -> None:
    model = quick(imputer, keep_empty_features=True)
    with pytest.raises(NotFittedError):
        model.save(tmp_path / "model")
    model.fit(*contract.numbers())  # of which nothing is left after the next fit
    model.fit(np.full((4, 2), np.nan), [0, 1, 0, 1]).save(tmp_path / "model")
    assert greyfill.load(tmp_path / "model").transform([[np.nan, 1.0]]).tolist() == [[0.0, 1.0]]
