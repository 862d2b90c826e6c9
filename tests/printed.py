"""What is printed, compared with what a page says: ``…`` is anything, and times may differ."""

import re

SECONDS = re.compile(r"\d+(\.\d+)? m?s\b")


def flat(text: str) -> str:
    """Text without what may differ: times, spaces, the width of a terminal."""
    return " ".join(SECONDS.sub("? s", text).split())


def pattern_of(expected: str) -> re.Pattern[str]:
    parts = [re.escape(flat(part)) for part in expected.split("…")]
    return re.compile(r"\s*(.*?)\s*".join(parts), re.DOTALL)
