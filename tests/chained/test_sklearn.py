"""scikit-learn's own checks, on small chains and forests; no failure is expected."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from greyfill.imputers.chained import MICEImputer, MissForestImputer

QUICK = [
    MICEImputer(n_imputations=2, n_iter=2),
    MICEImputer(n_imputations=2, n_iter=1, labels="predictor", combine="draw"),
    MissForestImputer(n_estimators=3, max_iter=2),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@parametrize_with_checks(QUICK)
def test_estimator_checks(estimator, check) -> None:
    check(estimator)
