"""Parameters are declared once: ``__init__``, its signature and the help are made of that."""

import inspect
from dataclasses import field
from typing import Any

import numpy as np
import pytest
from imputers.family import IMPUTERS
from sklearn.base import clone

import greyfill as gf
from greyfill.exceptions import InvalidParameterError
from greyfill.imputers.estimator import SavedEstimator, learned

MADE = [*IMPUTERS, gf.GreyClassifier, gf.GreyRegressor, gf.LVQClassifier, gf.MultiTaskMLPClassifier]
every = pytest.mark.parametrize("estimator", MADE, ids=lambda kind: kind.__name__)


@every
def test_a_new_object_has_its_parameters_and_nothing_else(estimator: Any) -> None:
    known = inspect.signature(estimator).parameters
    fresh = estimator()
    assert vars(fresh) == {name: p.default for name, p in known.items()} == fresh.get_params()
    assert not [name for name in dir(fresh) if name in ("n_iter_", "history_", "_fitted")]


@every
def test_names_types_and_defaults_are_in_the_signature(estimator: Any) -> None:
    known = inspect.signature(estimator).parameters.values()
    assert all(p.default is not p.empty and p.annotation is not p.empty for p in known)
    assert not {"args", "kwargs"} & {p.name for p in known}
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        estimator(nonsense=1)


def test_own_parameters_stand_before_those_of_bases() -> None:
    names = list(inspect.signature(gf.EMBImputer).parameters)
    assert names[:3] == ["n_imputations", "bootstrap", "combine"]
    assert names[-1] == "verbose"


def test_only_the_first_parameters_may_be_given_by_place() -> None:
    assert gf.SRMIImputer(3).get_params()["n_imputations"] == 3
    with pytest.raises(TypeError, match="positional"):
        gf.SRMIImputer(3, 10)  # type: ignore[misc]


def test_a_preset_has_defaults_of_its_own() -> None:
    assert (gf.SRMIImputer().n_iter, gf.MICEImputer().n_iter) == (10, 5)
    assert (gf.OptTreeImputer().max_iter, gf.OptSVMImputer().max_iter) == (10, 5)


class Preset(gf.EMImputer):
    """EM with a prior.

    Parameters
    ----------
    strength : float, default=2.0
        Rows of the prior.
    """

    strength: float = field(default=2.0, kw_only=False)
    prior: float | str = 1.0

    strength_: float = learned()


def test_a_class_outside_declares_parameters_in_the_same_way() -> None:
    copy = clone(Preset(3.0, tol=0.1))
    assert (copy.strength, copy.tol, copy.prior) == (3.0, 0.1, 1.0)
    assert not hasattr(copy, "strength_")
    assert "Rows of the prior." in (Preset.__doc__ or "")
    assert "EM stops when" in (Preset.__doc__ or "")


@pytest.mark.parametrize("kind", [gf.EMImputer, Preset])
def test_what_a_parameter_may_be_is_declared_with_it_and_holds_for_presets(kind: Any) -> None:
    with pytest.raises(InvalidParameterError, match="prior must be a number, at least 0 or 'auto'"):
        kind(prior=-1).fit([[1.0, np.nan], [2.0, 3.0]])
    with pytest.raises(InvalidParameterError, match="tol must be a number, at least 0, not None"):
        kind(tol=None).fit([[1.0, np.nan], [2.0, 3.0]])


class Plain(gf.EMImputer):
    def __init__(self, half: float = 1.0) -> None:
        super().__init__(prior=2 * half)
        self.half = half


class Heir(Plain):
    """It has the constructor of its base."""


@pytest.mark.parametrize("kind", [Plain, Heir])
def test_a_constructor_of_ones_own_is_kept(kind: Any) -> None:
    assert list(inspect.signature(kind).parameters) == ["half"]
    imputer = kind(0.5)
    assert imputer.prior == 1.0
    X = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, np.nan], [4.0, 8.0]])
    assert not np.isnan(imputer.fit_transform(X)).any()


def test_an_estimator_without_parameters_can_be_made() -> None:
    class Bare(SavedEstimator):
        """Nothing to choose."""

    assert Bare().get_params() == {}


def test_help_has_the_words_of_bases_and_the_defaults_of_the_class() -> None:
    class Base(SavedEstimator):
        """Fill.

        Parameters
        ----------
        tol : float, default=0.1
            What may still move; default=0.1 is little.
        """

        tol: float = 0.1
        n_iter_: int = learned()

    class Preset(Base):
        """Fill better."""

        tol: float = 0.5

    lines = (Preset.__doc__ or "").splitlines()
    assert lines[0] == "Fill better."
    assert lines[-2:] == [
        "tol : float, default=0.5",
        "    What may still move; default=0.1 is little.",
    ]
