"""Records of the joint engine, special draws, IARI, C4.5 and systems that no fit has left."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from greyfill import C45Imputer, EMBImputer, IARIImputer, MICEImputer, MissPALassoImputer
from greyfill._systems.column_models import Cart, GreyRidge, Machine
from greyfill.exceptions import InvalidDataError, PersistenceError
from greyfill.persistence import estimator_rules, record_rules


def holed() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    frame = pd.DataFrame({"x": x, "n": rng.poisson(2, 60) * 1.0, "c": np.where(x > 0, "b", "a")})
    frame["d"] = frame["x"] + rng.normal(size=60) / 3
    return frame.mask(rng.random(frame.shape) < 0.2)


JOINT = EMBImputer(2, max_iter=3).fit(holed())._fitted
NORMAL = JOINT.thetas[0][0]
SPARSE = MissPALassoImputer(penalty=0.1, max_iter=2).fit(holed())._fitted.thetas[0][0]
FOREST = IARIImputer(3).fit(holed())._fitted
TREES = C45Imputer().fit(holed())._fitted
TREE = max((tree.tree for tree in TREES.trees.values()), key=lambda tree: len(tree.attribute))
METHODS = {"x": "cart", "n": "poisson", "c": "cart", "d": "two-part"}
MODELS = MICEImputer(1, n_iter=1, methods=METHODS).fit(holed())._chains.chains[0].models

BROKEN: dict[str, tuple[Any, dict[str, Any], str]] = {
    "covariance": (NORMAL, {"covariance": -NORMAL.covariance}, "covariance that is none"),
    "asymmetric": (NORMAL, {"covariance": np.triu(NORMAL.covariance)}, "not symmetric"),
    "mean": (NORMAL, {"mean": NORMAL.mean[1:]}, "moments do not fit"),
    "no distribution": (JOINT, {"thetas": ()}, "there is no distribution"),
    "other columns": (JOINT, {"thetas": ((NORMAL, NORMAL),)}, "of other columns"),
    "deviation": (JOINT.code, {"deviation": -JOINT.code.deviation}, "deviation that is none"),
    "sparse covariance": (SPARSE, {"covariance": -SPARSE.covariance}, "covariance that is none"),
    "sparse corner": (SPARSE, {"covariance": np.triu(SPARSE.covariance)}, "not symmetric"),
    "ridges": (GreyRidge(), {"n_clusters": 10_000}, "n_clusters is 10000"),
    "penalty": (SPARSE, {"penalty": -1.0}, "the penalty is"),
    "coefficients": (SPARSE, {"memory": SPARSE.memory[1:]}, "coefficients do not fit"),
    "chain": (FOREST, {"steps": FOREST.steps[1:]}, "leaves out a column"),
    "reads": (
        FOREST,
        {"steps": (replace(FOREST.steps[0], reads=np.array([99])), *FOREST.steps[1:])},
        "columns of a forest lie outside",
    ),
    "loop": (TREE, {"child": np.zeros_like(TREE.child)}, "child before its parent"),
    "attribute": (TREE, {"attribute": TREE.attribute + 99}, "column that does not exist"),
    "shares": (TREE, {"shares": TREE.shares * 2}, "no shares of classes"),
    "cases": (
        TREE,
        {"parts": np.where(np.arange(len(TREE.parts)) > 0, 0.0, TREE.parts)},
        "branches that lose cases",  # else a row with holes would reach no leaf
    ),
    "tree": (TREES, {"trees": {9: next(iter(TREES.trees.values()))}}, "does not exist"),
    "donors": (MODELS[0].model, {"starts": MODELS[0].model.starts[:-1]}, "donors do not fit"),
    "count": (MODELS[1].model, {"most": -1.0}, "most is -1"),
    "category": (replace(MODELS[2]), {"model": MODELS[1].model}, "drawn as a number"),
}


@pytest.mark.parametrize(("record", "change", "words"), BROKEN.values(), ids=BROKEN)
def test_what_no_fit_left_is_refused(record: Any, change: dict[str, Any], words: str) -> None:
    assert estimator_rules.check_estimator  # its modules register the rules
    record_rules.check_record(record)
    with pytest.raises(PersistenceError, match=words):
        record_rules.check_record(replace(record, **change))


@pytest.mark.filterwarnings("ignore:Solver terminated early")
@pytest.mark.parametrize("is_class", [False, True])
@pytest.mark.parametrize("learner", [Cart(2**90), Machine(record_rules.LARGEST)], ids=["leaf", "C"])
def test_what_a_file_may_ask_of_a_model_ends(learner: Any, is_class: bool) -> None:
    """A leaf of more rows than a machine can count, and a penalty by which libsvm never ends."""
    rng = np.random.default_rng(0)
    x, y = rng.random((300, 4)), rng.random(300)
    record_rules.check_record(learner)
    found = learner.fit(x, np.rint(y) if is_class else y, is_class, np.arange(4))(x)
    assert np.isfinite(found).all()


def test_a_covariance_that_can_hardly_be_inverted_is_refused_in_words() -> None:
    """Columns of very uneven sizes pass the rule, and rounding may still leave them no inverse."""
    imputer, table = EMBImputer(1, max_iter=3).fit(holed()), holed()[:12]
    fitted, refused = imputer._fitted, 0
    for seed in range(80):
        rng = np.random.default_rng(seed)
        root = rng.normal(size=(len(NORMAL.mean), 2)) * 10.0 ** rng.integers(-25, 25, (4, 1))
        theta = replace(NORMAL, covariance=root @ root.T, _late={})
        try:
            record_rules.check_record(theta)
            imputer._fitted = replace(fitted, thetas=((theta,),))
            assert imputer.transform(table).notna().all(axis=None)
        except InvalidDataError as error:
            refused += "too uneven" in str(error)
        except PersistenceError:
            continue
    assert refused
