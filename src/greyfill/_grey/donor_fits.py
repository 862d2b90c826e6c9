"""Regressions on all donors of a target, and on neighbors, as the kernel of a panel reads them."""

from typing import Any

import numpy as np

from greyfill._grey.candidates import Plan, RidgeFamily
from greyfill._grey.donor_table import FORMS
from greyfill.table import Floats, Ints

Features = dict[tuple[str, str], tuple[Ints, Floats]]
"""The features of a relevance and scope, and what each counts."""

NO_PLACES = np.zeros(0, dtype=np.intp)


def arranged(
    plan: Plan,
    common: list[RidgeFamily],
    read: Features,
    donors: tuple[Floats, Floats, Ints, Ints, Floats],
) -> tuple[Any, ...]:
    """Tables of the families of a plan, on all donors some of them, and their arrays.

    ``donors`` are features, targets, rows, ranges of the classes and multipliers, as
    `greyfill._search.ridge.donor_fits` takes them, whose columns of the table are these here.
    """
    from greyfill._search import ridge as kernels

    local, near = [], [read[family.like.place] for family in plan.local]
    n = 0
    for family, (places, _) in zip(plan.local, near, strict=True):
        place = plan.places.index(family.like.place)
        local.append((place, n, len(places), family.first, family.last))
        n += len(places)
    sets = list(dict.fromkeys((family.like.scope, family.like.form) for family in common))
    rows, kept = [], []
    offsets, n_classes, n_targets = (
        np.zeros(4, dtype=np.intp),
        len(donors[3]),
        donors[1].shape[1],
    )
    for family in common:
        like, n_ridges = family.like, len(family.ridges)
        places, scales = read[like.place]
        counted = np.flatnonzero(scales)
        near.append((places[counted], scales[counted]))
        kept.append(counted)
        size, groups = len(counted), n_classes if like.scope == "split" else 1
        among = sets.index((like.scope, like.form))
        widths = size, n_ridges, family.first, family.last
        rows.append((FORMS.index(like.form), like.scope == "split", n, *widths, *offsets, among))
        n += size
        fits = groups * n_ridges * size
        offsets += [groups, groups * size, fits * size, fits * n_targets]
    table = np.array(rows, dtype=np.intp).reshape(-1, 12)
    of_sets = [(FORMS.index(form), scope == "split") for scope, form in sets]
    whole = [
        read[next(f.like.place for f in common if f.like.scope == scope)][0] for scope, _ in sets
    ]
    ends = np.cumsum([0, *map(len, whole)])
    flat_places = np.concatenate([NO_PLACES, *(places for places, _ in near)])
    flat_scales = np.concatenate([np.zeros(0), *(scales for _, scales in near)])
    ridges = np.array([ridge for family in common for ridge in family.ridges])
    found = kernels.donor_fits(
        *donors, np.array(of_sets, dtype=np.intp).reshape(-1, 2), ends,
        np.concatenate([NO_PLACES, *whole]), table, np.concatenate([NO_PLACES, *kept]),
        flat_scales[len(flat_scales) - sum(map(len, kept)) :], ridges, offsets,
    )  # fmt: skip
    tables = np.array(local, dtype=np.intp).reshape(-1, 5), table, plan.fits, plan.ridges
    return *tables, flat_places, flat_scales, *found
