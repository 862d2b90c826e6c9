"""A page of figures as sections that can be written anew one by one."""

from collections.abc import Sequence
from pathlib import Path

BETWEEN = "\n## "


def again(page: Path, section: Sequence[str], order: Sequence[str] = ()) -> None:
    """Put one section of a page anew; one that it lacks goes to the front, in ``order``."""
    heading, parts = section[0].removeprefix("## "), page.read_text().split(BETWEEN)
    names = [part.splitlines()[0] for part in parts]
    text = "\n".join(section).removeprefix("## ") + "\n"
    if heading in names:
        parts[names.index(heading)] = text
    else:
        before = order[: order.index(heading)] if heading in order else ()
        parts.insert(1 + sum(name in before for name in names), text)
    page.write_text(BETWEEN.join(parts))


def kept(page: Path, headings: Sequence[str]) -> list[list[str]]:
    """Sections of a page that another program wrote."""
    parts = page.read_text().split(BETWEEN) if page.exists() else []
    found = [part.rstrip("\n").splitlines() for part in parts]
    return [[f"## {lines[0]}", *lines[1:]] for lines in found if lines[0] in headings]
