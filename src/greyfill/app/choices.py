"""What the page chose, as the options of the command; and the lines that do the same without it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from greyfill.exceptions import InvalidParameterError
from greyfill.imputers.registry import DEFAULT
from greyfill.jobs.fill_options import FillOptions
from greyfill.jobs.findings import command
from greyfill.jobs.options import MethodChoice, TableOptions

LISTS = (
    "ignored", "categorical", "numeric", "ordinal", "folded", "na_values",
    "insisted", "not_applicable", "bounds",
)  # fmt: skip
WORDS = ("target", "delimiter", "decimal", "encoding", "date_order", "sheet", "method")
SWITCHES = ("strict", "header", "ragged", "indicators")
OF_FILLS = ("insisted", "not_applicable", "bounds", "indicators")
AS_IN_PYTHON = ("delimiter", "decimal", "encoding", "date_order", "sheet", "ragged", "strict")
FLAGS = {
    "--na-values": "na_values", "--ignore": "ignored", "--categorical": "categorical",
    "--numeric": "numeric", "--fold": "folded", "--ragged": "ragged",
}  # fmt: skip
"""The options that findings name, as choices."""
MOST_ITEMS, MOST_LETTERS = 20_000, 10_000


@dataclass(frozen=True)
class Choices:
    """All that can be chosen: the columns and the file, the cells to fill, the method."""

    table: TableOptions = field(default_factory=TableOptions)
    wishes: FillOptions = field(default_factory=FillOptions)
    method: MethodChoice = field(default_factory=MethodChoice)

    @classmethod
    def read(cls, plain: Any) -> "Choices":
        """Choices from JSON that a client sent; what has another shape is refused.

        >>> Choices.read({"target": "class", "bounds": ["age=0:120"]}).table.target
        'class'
        """
        if not isinstance(plain, dict):
            raise InvalidParameterError("choices must be an object")
        for name, value in plain.items():
            if not _fits(name, value):
                raise InvalidParameterError(f"{name!r} is no choice, or has no such value")
        given: dict[str, Any] = {
            k: tuple(v) if k in LISTS else v for k, v in plain.items() if v is not None
        }
        method = MethodChoice(given.pop("method", DEFAULT))
        method.check()
        wishes = {name: given.pop(name) for name in OF_FILLS if name in given}
        return cls(TableOptions(**given), FillOptions(**wishes), method)

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        found = {n: list(self._value(n)) for n in LISTS}
        return found | {n: self._value(n) for n in (*WORDS, *SWITCHES)}

    def _value(self, name: str) -> Any:
        if name == "method":
            return self.method.method
        return getattr(self.wishes if name in OF_FILLS else self.table, name)

    def with_options(self, options: Iterable[Sequence[str]]) -> "Choices":
        """With more words for missing, kinds of columns, and columns to leave out."""
        plain = self.to_dict()
        for option, value in options:
            known = plain[FLAGS[option]]
            if isinstance(known, list):
                known += [] if value in known else [value]
            else:
                plain[FLAGS[option]] = True
        return Choices.read(plain)

    def command(self, file: str) -> str:
        """The command that does the same."""
        return command(file, (self.table, self.wishes, self.method))

    def python(self, file: str, bounds: dict[str, Any]) -> str | None:
        """The line of Python that does the same; None where `greyfill.fill` has no such choice.

        >>> Choices.read({"target": "class", "na_values": ["?"]}).python("votes.csv", {})
        "greyfill.fill('votes.csv', target='class', missing_values=['?'])"
        >>> Choices.read({"delimiter": ";", "header": False}).python("votes.csv", {})
        "greyfill.fill('votes.csv', delimiter=';', header=False)"
        """
        if any("=" in item for item in (*self.table.ordinal, *self.wishes.not_applicable)):
            return None
        named = [*self.table.categorical, *self.table.ordinal]
        given = {
            "target": self.table.target,
            "method": None if self.method.method == DEFAULT else self.method.method,
            "ignore": list(self.table.ignored),
            "fill": list(dict.fromkeys([*named, *self.wishes.insisted])),
            "fold": list(self.table.folded),
            "not_applicable": list(self.wishes.not_applicable),
            "bounds": bounds,
            "categorical_features": list(self.table.categorical),
            "ordinal_features": list(self.table.ordinal),
            "missing_values": list(self.table.na_values),
            "indicators": self.wishes.indicators,
            "numeric_columns": list(self.table.numeric),
            **{name: self._value(name) for name in AS_IN_PYTHON},
        }
        words = [f"{name}={value!r}" for name, value in given.items() if value]
        words += [] if self.table.header is None else [f"header={self.table.header}"]
        return f"greyfill.fill({', '.join([repr(file), *words])})"


def _fits(name: str, value: Any) -> bool:
    if name in LISTS:
        return isinstance(value, list) and len(value) <= MOST_ITEMS and all(map(_is_word, value))
    if name in WORDS:
        return value is None or _is_word(value)
    return name in SWITCHES and (value is None or isinstance(value, bool))


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= MOST_LETTERS
