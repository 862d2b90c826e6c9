"""Regressions on all donors of a target, and on neighbors, as the kernel of a panel reads them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from greyfill._grey.candidates import Candidate, Plan, RidgeFamily
from greyfill._grey.donor_table import FORMS, DonorTable
from greyfill.table import Bools, Floats, Ints

MANY_FEATURES = 2.0
"""Features for each donor from which the regressions of a group are solved by donors."""

NO_PLACES = np.zeros(0, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class DonorFits:
    """The donors of a target, class after class from ``starts`` on, and what is regressed on them.

    ``scales`` gives the features of a candidate and what each counts; ``multipliers`` are those of
    the rows of the donor table, or none.
    """

    donors: DonorTable
    target: int
    rows: Ints
    starts: Ints
    multipliers: Floats
    scales: Callable[[Candidate], tuple[Ints, Floats]]
    _moments: dict[tuple[str, str], tuple[Floats, ...]] = field(default_factory=dict, repr=False)

    def arranged(self, plan: Plan, common: list[RidgeFamily]) -> tuple[Any, ...]:
        """Tables of the families of a plan, on all donors some of them, and their arrays.

        Counts, means of features and of targets, inverses and slopes stand end to end.
        """
        local = np.zeros((len(plan.local), 5), dtype=np.intp)
        of_all = np.zeros((len(common), 11), dtype=np.intp)
        both = [self.scales(f.like) for f in plan.local] + [self._kept(f.like) for f in common]
        sizes = np.array([len(places) for places, _ in both], dtype=np.intp)
        first = np.cumsum(sizes) - sizes
        for number, family in enumerate(plan.local):
            place = plan.places.index(family.like.place)
            local[number] = place, first[number], sizes[number], family.first, family.last
        alike: dict[tuple[str, int, int], list[int]] = {}
        for number, family in enumerate(common):
            size = int(sizes[len(local) + number])
            alike.setdefault((family.like.scope, size, len(family.ridges)), []).append(number)
        of_all[:, 2] = first[len(local) :]
        offsets, arrays = np.zeros(5, dtype=np.intp), []
        for (scope, size, n_ridges), numbers in alike.items():
            found = self._fit([common[number] for number in numbers])
            for place, number in enumerate(numbers):
                family, row = common[number], of_all[number]
                row[:2] = FORMS.index(family.like.form), scope == "split"
                row[3:7] = size, n_ridges, family.first, family.last
                begins = [part.size // len(numbers) * place for part in found]
                row[7:] = (offsets + begins)[[0, 1, 3, 4]]
            offsets += [part.size for part in found]
            arrays.append(found)
        flat = [_joined([found[part] for found in arrays]) for part in range(5)]
        places = np.concatenate([NO_PLACES, *(places for places, _ in both)])
        scales = _joined([scales for _, scales in both])
        return local, of_all, plan.fits, plan.ridges, places, scales, *flat

    def _fit(self, families: list[RidgeFamily]) -> tuple[Floats, ...]:
        """Regressions of families of one scope, size and number of penalties, of each group."""
        from greyfill._search import ridge as kernels

        sums = [self._sums(family.like) for family in families]
        counts, middles, centers, products, cross = (np.stack(p) for p in zip(*sums, strict=True))
        scales = np.stack([self._kept(family.like)[1] for family in families])
        ridges, of_each = np.array([family.ridges for family in families]), counts[0]
        few = of_each * MANY_FEATURES < scales.shape[1]
        shape = *counts.shape, ridges.shape[1], scales.shape[1]
        inverses, slopes = np.empty((*shape, shape[-1])), np.empty((*shape, cross.shape[3]))
        if few.any():
            donors = self._centered(families, middles, few)
            found = kernels.few_inverses(donors, of_each[few], cross[:, few], scales, ridges)
            inverses[:, few], slopes[:, few] = found
        if not few.all():
            large = of_each[~few], products[:, ~few], cross[:, ~few]
            found = kernels.ridge_inverses(*large, scales, ridges)
            inverses[:, ~few], slopes[:, ~few] = found
        return counts, middles, centers, inverses, slopes

    def _kept(self, like: Candidate) -> tuple[Ints, Floats]:
        """The features that count, and their scales."""
        places, scales = self.scales(like)
        return (places, scales) if scales.all() else (places[scales > 0], scales[scales > 0])

    def _groups(self, scope: str) -> Ints:
        """The first donors of the groups, and their number at the end."""
        return self.starts if scope == "split" else np.array([0, len(self.rows)])

    def _sums(self, like: Candidate) -> tuple[Floats, ...]:
        """Moments of the features that count, those of all features computed once."""
        from greyfill._search import ridge as kernels

        places, scales = self.scales(like)
        key = like.scope, like.form
        if key not in self._moments:
            features, truth = self.donors.features[FORMS.index(like.form)], self.donors.truth
            of_groups = self.rows, self.multipliers, self._groups(like.scope)
            self._moments[key] = kernels.moments(features, places, truth(self.target), *of_groups)
        if scales.all():
            return self._moments[key]
        counts, middles, centers, products, cross = self._moments[key]
        kept = np.flatnonzero(scales)
        return counts, middles[:, kept], centers, products[:, kept][:, :, kept], cross[:, kept]

    def _centered(self, families: list[RidgeFamily], middles: Floats, few: Bools) -> Floats:
        """Features of the donors of small groups, less their means; zeros for want of donors.

        Each counts by the root of its multiplier.
        """
        starts, groups = self._groups(families[0].like.scope), np.flatnonzero(few)
        most = int(np.diff(starts)[groups].max())
        out = np.zeros((len(families), len(groups), most, middles.shape[2]))
        for number, family in enumerate(families):
            features = self.donors.features[FORMS.index(family.like.form)]
            places = self._kept(family.like)[0]
            for at, group in enumerate(groups):
                rows = self.rows[starts[group] : starts[group + 1]]
                apart = features[rows][:, places] - middles[number, group]
                if len(self.multipliers):
                    apart *= np.sqrt(self.multipliers[rows])[:, np.newaxis]
                out[number, at, : len(rows)] = apart
        return out


def _joined(arrays: list[Floats]) -> Floats:
    """Arrays end to end."""
    return np.concatenate([np.zeros(0), *(array.ravel() for array in arrays)])
