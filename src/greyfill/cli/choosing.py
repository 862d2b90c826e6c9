"""A method by its name, with its settings → an imputer; or what is wrong with the choice."""

from dataclasses import dataclass
from inspect import signature
from typing import Any

from greyfill.checks import check_choice
from greyfill.cli.names import did_you_mean
from greyfill.cli.reading import Sheet
from greyfill.exceptions import InvalidDataError, InvalidParameterError

LARGE = 10_000
"""From so many rows on, all cores work unless the user says otherwise."""

NOT_FOR_FILES = ("native", "mean_indicator")
"""Methods that leave holes, or add columns."""

BY_ITSELF = ("auto", "cv", "masked")
LABEL_USES = ("donors", "weights", "predictor", "none")
"""Not every method knows each of them; it says so itself."""


@dataclass(frozen=True)
class MethodChoice:
    """A method and its settings, as the user gave them."""

    method: str = "cgknn"
    k: str = "auto"
    labels: str | None = None
    jobs: int | None = None
    seed: int = 0

    def make(self, sheet: Sheet) -> Any:
        """An imputer for this sheet, not fitted."""
        from greyfill.imputers.registry import METHODS, make

        known = [name for name in METHODS if name not in NOT_FOR_FILES]
        if self.method not in known:
            raise InvalidParameterError(
                f"No method is called {self.method!r} (--method). "
                + did_you_mean(self.method, known, "There are", most=99).replace("'", "")
            )
        settings = self._settings(sheet, tuple(signature(METHODS[self.method]).parameters))
        imputer = make(
            self.method,
            **settings,
            **sheet.kinds,
            missing_values=list(sheet.na_values) or None,
        )
        self._check_labels(imputer, sheet, known)
        return imputer

    def _settings(self, sheet: Sheet, takes: tuple[str, ...]) -> dict[str, Any]:
        settings: dict[str, Any] = {}
        if (k := self._neighbors()) != "auto":
            self._refuse("--k", "n_neighbors", takes)
            settings["n_neighbors"] = k
        if self.labels is not None:
            self._refuse("--labels", "labels", takes)
            check_choice("--labels", self.labels, LABEL_USES)
            settings["labels"] = self.labels
        if "n_jobs" in takes:
            settings["n_jobs"] = self._threads(sheet.source.frame.height)
        if "random_state" in takes:
            settings["random_state"] = self.seed
        return settings

    def _neighbors(self) -> int | str:
        if self.k in BY_ITSELF:
            return self.k
        if self.k.isdecimal() and int(self.k) > 0:
            return int(self.k)
        raise InvalidParameterError(f"--k must be a positive number or auto, not {self.k!r}.")

    def _threads(self, n_rows: int) -> int:
        if self.jobs is None:
            return -1 if n_rows >= LARGE else 1
        if self.jobs == 0:
            raise InvalidParameterError("--jobs 0 cannot work; give a number, or -1 for all cores.")
        return self.jobs

    def _refuse(self, option: str, parameter: str, takes: tuple[str, ...]) -> None:
        if parameter not in takes:
            raise InvalidParameterError(f"{option} has no meaning for the method {self.method}.")

    def _check_labels(self, imputer: Any, sheet: Sheet, known: list[str]) -> None:
        if not _needs_labels(imputer):
            return
        if sheet.y is None:
            raise InvalidParameterError(
                f"The method {self.method} learns from class labels. Name their column "
                "(--target COLUMN), or choose a method that needs none: --method grey, or "
                f"{', '.join(_label_free(known))}."
            )
        from greyfill.targets import Meaning, read_target

        if read_target(sheet.y, needs_classes=True).meaning is Meaning.RESPONSE:
            raise InvalidDataError(
                f"{sheet.name}: the target {sheet.target!r} holds measurements, not classes. Name "
                "a column of classes, or choose a method that takes them too: --method grey."
            )


def _needs_labels(imputer: Any) -> bool:
    from sklearn.utils import get_tags

    return bool(get_tags(imputer).target_tags.required)


def _label_free(known: list[str]) -> list[str]:
    from greyfill.imputers.registry import make

    return [name for name in known if name != "grey" and not _needs_labels(make(name))]
