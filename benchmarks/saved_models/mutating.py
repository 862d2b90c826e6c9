"""Mutation number i of a seed: one to four changes, always the same."""

from collections.abc import Callable
from random import Random

from saved_models import arrays, couples, trees
from saved_models.parts import Model

Change = Callable[[Model, Random], str | None]

CHANGES: tuple[tuple[Change, int], ...] = (
    (arrays.change_array, 40), (arrays.swap_arrays, 5), (arrays.change_members, 1),
    (trees.replace_scalar, 12), (trees.replace_any, 4), (trees.nudge_number, 8),
    (trees.change_keys, 4), (trees.odd_attribute, 3), (trees.copy_node, 4), (trees.swap_nodes, 3),
    (trees.swap_types, 3), (trees.change_enum, 3), (trees.change_list, 5), (trees.change_tag, 3),
    (trees.change_parameter, 6), (trees.rename_column, 2),
    (couples.resize_axis, 4), (couples.same_element, 2), (couples.same_key, 4),
    (couples.same_number, 2), (couples.same_text, 2), (couples.more_levels, 3),
    (couples.other_kind, 3), (couples.odd_forest, 6), (couples.odd_choice, 5),
    (couples.odd_pools, 4), (couples.odd_scale, 3), (couples.graft, 8),
    (couples.odd_tree, 6), (couples.odd_moments, 6),
)  # fmt: skip

TRIES = 30
"""So often another change is drawn where one does not apply."""


def mutate(model: Model, seed: int, index: int) -> tuple[Model, list[str]]:
    """A changed copy, and what was changed in words."""
    rng, out = Random(f"{seed}:{index}"), model.copy()
    changes, weights = zip(*CHANGES, strict=True)
    wanted = rng.choices((1, 2, 3, 4), (60, 20, 12, 8))[0]
    told: list[str] = []
    for _ in range(TRIES):
        words = rng.choices(changes, weights)[0](out, rng)
        if words is not None:
            told.append(words)
        if len(told) == wanted:
            break
    return out, told
