"""Parts by name, for those who would rather write a word than import a class."""

from typing import Any

from greyfill._neighbors.distance import Grey, Heom
from greyfill._neighbors.donors import AllRows, CompleteRows, SameClass
from greyfill._neighbors.filling import PlainFill, WeightedFill
from greyfill._neighbors.schedule import Direct, Once, Sequential
from greyfill._neighbors.start import ClassStart, GlobalStart
from greyfill._neighbors.weighting import ClassInformation, EqualWeights, PairInformation
from greyfill.exceptions import InvalidParameterError
from greyfill.information import MEASURES

PERMUTATIONS = 20
"""Shuffles that weights of a named measure are corrected by."""

NAMED: dict[str, dict[str, Any]] = {
    "distance": {"grey": Grey(), "heom": Heom()},
    "weights": {
        "equal": EqualWeights(),
        "class": ClassInformation(),
        "pair": PairInformation(),
        **{name: ClassInformation(PERMUTATIONS, 0, name) for name in MEASURES},
        **{f"pair_{name}": PairInformation(PERMUTATIONS, 0, name) for name in MEASURES},
    },
    "donors": {"same_class": SameClass(), "all_rows": AllRows(), "complete_rows": CompleteRows()},
    "fill": {"weighted": WeightedFill(), "plain": PlainFill()},
    "start": {"class": ClassStart(), "global": GlobalStart()},
    "schedule": {"direct": Direct(), "once": Once(), "sequential": Sequential()},
}
"""Parts by sort and name; a measure's own name means relevance to the class, chance taken out."""


def named_part(sort: str, part: Any) -> Any:
    """The part of this name; what is no name stays as it is.

    >>> named_part("weights", "ksg")
    ClassInformation(n_permutations=20, random_state=0, measure='ksg')
    """
    if not isinstance(part, str):
        return part
    if part not in NAMED[sort]:
        raise InvalidParameterError(
            f"{sort} must be a part or one of {tuple(NAMED[sort])}, not {part!r}"
        )
    return NAMED[sort][part]
