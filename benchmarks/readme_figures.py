"""Whether the table *Measured* of the README says what its pages say.

    python benchmarks/readme_figures.py

Every number of a row must stand on a page that the row links to ("the same" is the page of the row
above): as it is, or, if it is a whole number below 100, as a cell of a table or with the word after
it. Ends with 1 and names figure and page if one is missing.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
THOUSANDS = re.compile(r"(?<=\d)[ ,\u00a0\u202f](?=\d{3}\b)")
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?!\w)")
WORD = re.compile(r"\s*(%|[^\W\d]+)")
PAGE = re.compile(r"\]\((docs/[\w-]+\.md)\)")


def main() -> None:
    missing = missing_figures(ROOT)
    print("\n".join(missing) or "every figure of README.md stands on its page")
    sys.exit(bool(missing))


def missing_figures(root: Path) -> list[str]:
    """A sentence for each figure of the table that its page does not have."""
    pages: list[str] = []
    found = []
    for cells in rows((root / "README.md").read_text(encoding="utf-8")):
        pages = PAGE.findall(cells[-1]) or pages
        texts = [joined((root / page).read_text(encoding="utf-8")) for page in pages]
        found += [
            f"README.md, Measured: {figure!r} is not on {' or '.join(pages)}"
            for figure in figures(" | ".join(cells[:-1]))
            if not any(stands(figure, text) for text in texts)
        ]
    return found


def rows(readme: str) -> list[list[str]]:
    """Cells of the table below the heading *Measured*, without its head."""
    section = readme.partition("\n## Measured\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    if not lines:
        raise SystemExit("README.md has no table below the heading Measured")
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def joined(text: str) -> str:
    return THOUSANDS.sub("", text)


def figures(text: str) -> list[str]:
    """Numbers of a row, small whole ones with the word behind them."""
    text, found = joined(text), []
    for number in NUMBER.finditer(text):
        word = WORD.match(text, number.end())
        small = number.group().isdigit() and len(number.group()) < 3
        found.append(f"{number.group()} {word[1]}" if small and word else number.group())
    return found


def stands(figure: str, page: str) -> bool:
    number, *word = map(re.escape, figure.split())
    text = rf"(?<![\w.]){number}\s*{''.join(word)}(?!\w|\.\d)"
    cell = rf"\|\s*{number}\s*\|"
    return re.search(f"{text}|{cell}", page) is not None


if __name__ == "__main__":
    main()
