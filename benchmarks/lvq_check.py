"""Hold learning vector quantization against sklvq's GMLVQ with a diagonal matrix, without holes.

    python benchmarks/lvq_check.py

At the same prototypes and relevances the distances and the cost must agree. Trained apart, the two
may end elsewhere: accuracies are those of five stratified folds, numbers scaled to [0, 1]. Figures
go to docs/data/literature_oracles_lvq.json, which benchmarks/literature.py shows.
"""

import json
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils import check_X_y
from sklvq import GMLVQ

import greyfill
from greyfill._systems.layout import FeatureLayout
from greyfill._systems.prototypes import PrototypeCost, Prototypes
from greyfill.table import Column, Kind, Table

OUT = Path(__file__).parents[1] / "docs" / "data" / "literature_oracles_lvq.json"
TABLES = {"iris": load_iris, "wine": load_wine, "breast_cancer": load_breast_cancer}


def _validate_data(model: GMLVQ, X: np.ndarray, y: np.ndarray, **how: object) -> tuple:
    """What scikit-learn had under this name when sklvq was written."""
    model.n_features_in_ = X.shape[1]
    return check_X_y(X, y)


GMLVQ._validate_data = _validate_data


def _score(X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> float:
    """Accuracy of sklvq's nearest prototype; its own predict asks for an older scikit-learn."""
    model = GMLVQ(random_state=0).fit(X[train], y[train])
    nearest = model._distance(X[test], model).argmin(axis=1)
    return float((model.prototypes_labels_[nearest] == y[test]).mean())


def largest_gaps(X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """How far distances and cost are apart at one point, the end of sklvq's own training."""
    theirs = GMLVQ(random_state=0, activation_params={"beta": 1}).fit(X, y)
    relevance = np.diag(theirs.omega_.T @ theirs.omega_)
    relevance = relevance / relevance.sum()
    theirs.omega_ = np.diag(np.sqrt(relevance))
    columns = tuple(Column(f"x{j}", Kind.NUMERIC) for j in range(X.shape[1]))
    table = Table(X, np.zeros(X.shape, dtype=bool), columns)
    layout, centers = FeatureLayout.learn(table), theirs.prototypes_
    ours = Prototypes(layout, centers, theirs.prototypes_labels_, relevance, centers)
    squares = theirs._distance(X, theirs)
    gap = np.abs(ours.squares(table) - squares).max()
    own = y[:, None] == theirs.prototypes_labels_
    plus, minus = (np.where(m, squares, np.inf).min(axis=1) for m in (own, ~own))
    cost = (1 / (1 + np.exp(-(plus - minus) / (plus + minus)))).sum()
    mine = PrototypeCost(X, np.ones(X.shape), y, ours.labels, layout.owners, X.shape[1])
    at = np.concatenate([centers.ravel(), np.log(np.maximum(relevance, 1e-300))])
    return float(gap), float(abs(mine.at(at)[0] - cost))


def main() -> None:
    rows = []
    for name, load in TABLES.items():
        X, y = load(return_X_y=True)
        X = MinMaxScaler().fit_transform(X)
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = np.mean([_score(X, y, *fold) for fold in folds.split(X, y)])
            distance, cost = largest_gaps(X, y)
        ours = cross_val_score(greyfill.LVQClassifier(), X, y, cv=folds).mean()
        same = max(distance, cost) < 1e-9
        rows += [
            {
                "system": "lvq",
                "oracle": f"distances and cost at the same point, {name}: largest difference",
                "ours": f"{max(distance, cost):.1e}",
                "reference": "GMLVQ, diagonal matrix: 0",
                "verdict": "agrees" if same else "differs",
            },
            {
                "system": "lvq",
                "oracle": f"accuracy of one prototype a class, {name}, 5 folds",
                "ours": f"{ours:.3f}",
                "reference": f"GMLVQ, full matrix: {theirs:.3f}",
                "verdict": "higher" if ours >= theirs else "lower; it has a full matrix",
            },
        ]
        print(rows[-2:], flush=True)
    OUT.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
