"""Bits of Markdown."""

from collections.abc import Sequence

import numpy as np


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """A Markdown table: the first column to the left, the others to the right."""
    rule = ["---", *["---:"] * (len(heads) - 1)]
    return [f"| {' | '.join(map(str, cells))} |" for cells in (heads, rule, *rows)] + [""]


def number(value: float, digits: int = 4) -> str:
    return "–" if np.isnan(value) else f"{value:.{digits}f}"


def probability(value: float) -> str:
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"


def listed(names: Sequence[str]) -> str:
    """a, b and c."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def counted(n: int, noun: str) -> str:
    """One seed, 3 seeds."""
    return f"one {noun}" if n == 1 else f"{n} {noun}s"
