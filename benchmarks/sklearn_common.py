"""scikit-learn's own tests on the estimators of greyfill: which conventions are not met, and why.

    python benchmarks/sklearn_common.py [--only NAME ...] [--keyword TEXT] [--skip-checks]

Two suites: the common tests of imputers, which the installed scikit-learn brings along
(sklearn/impute/tests/test_common.py), and ``check_estimator``. The common tests fit without y, so
methods that need classes run them with labels="none", and ClassMeanImputer not at all. The exit
code is 1 if a test fails for no reason listed in DEVIATIONS, or passes in spite of one.
"""

import argparse
import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import sklearn
from sklearn.impute import KNNImputer
from sklearn.utils.estimator_checks import check_estimator

import greyfill
from greyfill.evaluation import ClassMeanImputer, EncodedImputer, MeanImputer
from greyfill.metrics import MixedNaiveBayes

COMMON, CHECKS = "common tests", "estimator checks"
TESTS = Path(sklearn.__file__).parent / "impute" / "tests" / "test_common.py"
DEVIATIONS = {
    "test_imputers_add_indicator_sparse": "Sparse matrices are refused: cells that are not stored "
    "are zeros and not holes, and rows are compared in every column. scikit-learn's KNNImputer and "
    "IterativeImputer refuse them as well, and are not put to this test.",
    "test_imputers_pandas_na_integer_array_support": "Columns keep their dtype: a nullable integer "
    "column comes back as one, its fills whole numbers, and not as the floats of an array.",
}
"""Tests that fail by intention, and the reason."""


@dataclass(frozen=True)
class Outcome:
    """One test of one estimator."""

    suite: str
    test: str
    estimator: str
    status: str
    error: str

    @property
    def verdict(self) -> str:
        """passed, skipped, deviating (as listed), or what makes this program fail."""
        listed = self.test in DEVIATIONS
        if self.status == "failed":
            return "deviating" if listed else "UNEXPECTED"
        return "NO LONGER DEVIATING" if listed and self.status == "passed" else self.status


def imputers() -> list[Any]:
    """Every public imputer that can be fitted without y."""
    names = [name for name in greyfill.__all__ if name.endswith("Imputer")]
    ours = [_without_labels(getattr(greyfill, name)()) for name in names]
    numbers = KNNImputer(keep_empty_features=True)
    return [*ours, MeanImputer(), EncodedImputer(numbers)]


def _without_labels(imputer: Any) -> Any:
    return imputer.set_params(labels="none") if imputer._needs_labels else imputer


def estimators() -> list[Any]:
    """Every public estimator, as it comes."""
    names = [n for n in greyfill.__all__ if n.endswith(("Imputer", "Classifier", "Regressor"))]
    peers = [MeanImputer(), ClassMeanImputer()]
    others = [EncodedImputer(KNNImputer(keep_empty_features=True)), MixedNaiveBayes()]
    return [*(getattr(greyfill, name)() for name in names), *peers, *others]


class Substitution:
    """A plugin of pytest: our imputers in the place of scikit-learn's, and a list of outcomes."""

    def __init__(self, ours: list[Any]) -> None:
        self.ours = ours
        self.outcomes: list[Outcome] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_generate_tests(self, metafunc: Any) -> None:
        """Change the parameter before pytest reads it."""
        marks = metafunc.definition.own_markers
        substitute = pytest.mark.parametrize("imputer", self.ours, ids=_name).mark
        marks[:] = [substitute if _is_parameter(mark) else mark for mark in marks]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Iterator[Any]:
        """Write down how a test ended."""
        report = yield
        if call.when == "call" or not report.passed:
            estimator = _name(item.callspec.params["imputer"])
            error = call.excinfo.exconly() if call.excinfo else ""
            self.outcomes.append(
                Outcome(COMMON, item.originalname, estimator, report.outcome, error)
            )
        return report


def _is_parameter(mark: Any) -> bool:
    return mark.name == "parametrize" and mark.args[0] == "imputer"


def _name(estimator: Any) -> str:
    return type(estimator).__name__


def common_tests(ours: list[Any], keyword: str) -> list[Outcome]:
    """Run scikit-learn's common tests of imputers on ours."""
    if not TESTS.exists():
        print(f"scikit-learn is installed without its tests: no {TESTS}", file=sys.stderr)
        return []
    plugin = Substitution(ours)
    quietly = ["-p", "no:terminal", "-p", "no:warnings", "-p", "no:cacheprovider"]
    pytest.main([str(TESTS), "-c", os.devnull, "-k", keyword, *quietly], plugins=[plugin])
    return plugin.outcomes


def estimator_checks(ours: list[Any]) -> list[Outcome]:
    """Run ``check_estimator`` on ours."""
    outcomes = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for estimator in ours:
            for found in check_estimator(estimator, on_skip=None, on_fail=None):
                error = str(found["exception"] or "")
                name, status = found["check_name"], found["status"]
                outcomes.append(Outcome(CHECKS, name, _name(estimator), status, error))
    return outcomes


def summary(outcomes: list[Outcome]) -> Iterator[str]:
    """A table of both suites, the reasons, and what went against the list."""
    yield f"scikit-learn {sklearn.__version__}, greyfill {greyfill.__version__}\n"
    yield "| estimator | suite | run | passed | skipped | deviating |"
    yield "|---|---|---|---|---|---|"
    for suite in (COMMON, CHECKS):
        of_suite = [outcome for outcome in outcomes if outcome.suite == suite]
        for name in dict.fromkeys(outcome.estimator for outcome in of_suite):
            yield _row(name, suite, [o for o in of_suite if o.estimator == name])
        yield _row("**all**", suite, of_suite)
    for test, reason in DEVIATIONS.items():
        count = sum(o.test == test and o.verdict == "deviating" for o in outcomes)
        yield f"\n{test} ({count} deviating): {reason}"
    for outcome in against_the_list(outcomes):
        yield f"\n{outcome.verdict}: {outcome.test} of {outcome.estimator}. {outcome.error}"


def _row(name: str, suite: str, outcomes: list[Outcome]) -> str:
    counts = [sum(o.verdict == v for o in outcomes) for v in ("passed", "skipped", "deviating")]
    return f"| {name} | {suite} | {len(outcomes)} | {' | '.join(map(str, counts))} |"


def against_the_list(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Failures that are not listed, and listed ones that pass."""
    return [outcome for outcome in outcomes if outcome.verdict.isupper()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these estimators")
    parser.add_argument("--keyword", default="", help="the common tests whose name has this")
    parser.add_argument("--skip-checks", action="store_true", help="no check_estimator")
    options = parser.parse_args()

    def chosen(ours: list[Any]) -> list[Any]:
        return [e for e in ours if not options.only or _name(e) in options.only]

    outcomes = common_tests(chosen(imputers()), options.keyword)
    if not options.skip_checks:
        outcomes += estimator_checks(chosen(estimators()))
    print("\n".join(summary(outcomes)))
    return 1 if against_the_list(outcomes) or not outcomes else 0


if __name__ == "__main__":
    sys.exit(main())
