"""Trust by column: how much better than the mean or the mode the fills are, on held-out cells."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from greyfill._grey.cross_fit import predict_held_out
from greyfill._grey.donor_table import Queries
from greyfill._grey.grey_engine import FittedGrey
from greyfill._grey.uncertainty import HeldOutRows
from greyfill.table import Floats
from greyfill.text import (
    as_html,
    as_text,
    clean,
    count,
    error_in,
    explained_in,
    listed,
    plural,
    share,
)

GUESS, UNKNOWN, FAIR, GOOD = WORDS = "no better than a guess", "not judged", "fair", "good"
"""The words of a column, the worst first."""

MOST_CELLS, FEWEST_CELLS = 100, 10
"""Held-out cells of a column: more tell little more; fewer do not tell how far chance goes."""

ALL_CELLS = 5_000
"""Held-out cells of all columns; each column has 40 at least."""

LEAST_GOOD, LEAST_FAIR = 0.5, 0.1
"""A fill that explains half misses by 0.7 of what the mean misses by, one that explains a tenth by
0.95, which nobody would notice."""

SURE = 1.645
"""Standard errors above zero that chance reaches in one of twenty columns."""

SHARE_WRONG = "share of wrong fills"


@dataclass(frozen=True)
class ColumnTrust:
    """What the fills of a column are worth.

    Attributes
    ----------
    column, word : str
        The column, and "good", "fair", "no better than a guess", or "not judged" (fewer than ten
        observed cells).
    explained, std_error : float
        The share of the spread that the fill explains, and its standard error. 1 is a fill that
        never misses, 0 one that is as good as the mean or the mode; it may be negative.
    error, unit : float, str
        The root mean squared error of a number in ``unit``; of categories the share of wrong fills.
    cells, holes : int
        Observed cells that were held out, and cells that were filled in ``fit``.
    """

    column: str
    word: str
    explained: float
    std_error: float
    error: float
    unit: str
    cells: int
    holes: int

    @property
    def usual(self) -> str:
        """What the fills are compared with."""
        return "commonest value" if self.unit == SHARE_WRONG else "mean"


class Trust(dict[str, ColumnTrust]):
    """The trust in each column with holes, the worst first: print it, or read a column's by name.

    ``rows`` are plain dicts, which any frame library takes.

    >>> good = ColumnTrust("age", "good", 0.8, 0.05, 3.2, "units of the column", 90, 12)
    >>> Trust([good])["age"].explained
    0.8
    >>> Trust([good])
    how far the fills of 1 column can be trusted
    column  fills  explains  usual error  cells  holes
    age     good   80 %      3.2          90     12
    """

    def __init__(self, columns: Iterable[ColumnTrust] = ()) -> None:
        def worst(trust: ColumnTrust) -> tuple[int, float]:
            # guesses are alike, and the more cells of them the worse
            is_guess = trust.word in (GUESS, UNKNOWN)
            return WORDS.index(trust.word), -trust.holes if is_guess else trust.explained

        super().__init__((trust.column, trust) for trust in sorted(columns, key=worst))

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One dict a column, for frames and JSON; None where nothing is known."""
        found = [asdict(trust) for trust in self.values()]
        unknown = dict.fromkeys(("explained", "std_error", "error"))
        return [row if row["cells"] else row | unknown for row in found]

    def overview(self) -> tuple[str, list[list[str]], list[str]]:
        """A title, a table of text with its head, and no remarks."""
        heads = ["column", "fills", "explains", "usual error", "cells", "holes"]
        body = [
            [clean(row["column"], most=40), row["word"], explained_in(row["explained"]),
             error_in(row["error"], row["unit"]), count(row["cells"]), count(row["holes"])]
            for row in self.rows
        ]  # fmt: skip
        title = f"how far the fills of {plural(len(self), 'column')} can be trusted"
        return title, [heads, *body], []

    def __repr__(self) -> str:
        return as_text(*self.overview())

    def _repr_html_(self) -> str:
        return as_html(*self.overview())

    def sentences(self, n_rows: int) -> list[str]:
        """At most three sentences about a table of so many rows: the worst, the best, and all."""
        by_word = {word: [t for t in self.values() if t.word == word] for word in WORDS}
        judged = [t for t in self.values() if t.word != UNKNOWN]
        if not judged:
            return []
        found = list(_about_guesses(by_word[GUESS], n_rows))
        best = max(judged, key=lambda t: (t.word != GUESS, t.explained))
        n_holes = sum(t.holes for t in self.values())
        if best.word != GUESS:
            found.append(f"The best fills are those of {_quoted(best)}: {_about_best(best)}.")
        parts = [
            f"{share(sum(t.holes for t in columns) / n_holes)} {word}"
            for word, columns in reversed(by_word.items())
            if columns
        ]
        found.append(f"All filled cells, by the trust in their column: {', '.join(parts)}.")
        return found


def _about_best(best: ColumnTrust) -> str:
    explained = explained_in(best.explained)
    if best.unit == SHARE_WRONG:
        wrong = share(best.error)
        return (
            f"they avoid {explained} of the errors that its {best.usual} makes; {wrong} are wrong"
        )
    return f"they explain {explained} of its spread; usual error {error_in(best.error, best.unit)}"


def _about_guesses(guesses: list[ColumnTrust], n_rows: int) -> Iterator[str]:
    if not guesses:
        yield "No column's fills are a mere guess, as far as held-out cells tell."
        return
    first, *others = guesses
    too = (
        f" The same holds for {listed([clean(t.column) for t in others], most=3)}."
        if others
        else ""
    )
    yield (
        f"{_quoted(first)} is missing in {share(first.holes / n_rows)} of the rows, and its fills "
        f"are no better than its {first.usual}: treat them as guesses.{too}"
    )


def _quoted(trust: ColumnTrust) -> str:
    return listed([clean(trust.column)])


def held_out_losses(
    fitted: FittedGrey, targets: list[int], y_is_known: bool
) -> Iterator[tuple[int, Floats, Floats]]:
    """For each column what fills of held-out cells lose, and what the mean or mode would lose.

    That is the squared error of a number on the scale of the donors, and 1 for a wrong category.
    Each cell is filled without its row among the donors, in a row that lacks what the rows with
    holes lack; the class or response is given if ``y_is_known``.
    """
    held, donors = HeldOutRows.of(fitted), fitted.donors
    most = int(np.clip(ALL_CELLS // max(len(targets), 1), 40, MOST_CELLS))
    for target in targets:
        rows, missing = held.like_holes(target, y_is_known, most)
        if len(rows) == 0:
            yield target, np.zeros(0), np.zeros(0)
            continue
        queries = Queries.of(donors, rows).without(target)
        queries = replace(queries, missing=queries.missing | missing)
        forecast = predict_held_out(fitted, target, queries)
        truth, seen = donors.table.values[rows, target], donors.seen_values(target)
        fills = donors.fills(target, forecast)
        if donors.table.is_categorical[target]:
            mode = np.bincount(seen.astype(np.intp)).argmax()
            yield target, (fills != truth).astype(float), (truth != mode).astype(float)
        else:
            yield target, (fills - truth) ** 2, (truth - seen.mean()) ** 2


def skill(lost: Floats, usual: Floats) -> tuple[float, float]:
    """1 − Σ lost / Σ usual, the losses of fills against those of the mean or mode, and its error.

    The standard error is that of a ratio, by the delta method.

    >>> skill(np.array([1.0, 0.0, 1.0, 0.0]), np.array([1.0, 1.0, 1.0, 1.0]))[0]
    0.5
    """
    if len(lost) == 0:
        return np.nan, np.nan
    if not usual.any():  # cells that the mode hits, too, do not tell whether a fill is better
        return 0.0, 0.0
    ratio = lost.mean() / usual.mean()
    spread = np.std(lost - ratio * usual, ddof=1) if len(lost) > 1 else np.nan
    return float(1.0 - ratio), float(spread / usual.mean() / np.sqrt(len(lost)))


def word_for(explained: float, std_error: float, n_cells: int) -> str:
    """Good from a half, fair from a tenth, and neither if chance could have done it.

    >>> word_for(0.6, 0.1, 50), word_for(0.6, 0.5, 50), word_for(0.3, 0.1, 50), word_for(0.6, 0, 9)
    ('good', 'no better than a guess', 'fair', 'not judged')
    """
    if n_cells < FEWEST_CELLS:
        return UNKNOWN
    if explained < LEAST_FAIR or explained <= SURE * std_error:
        return GUESS
    return GOOD if explained >= LEAST_GOOD else FAIR
