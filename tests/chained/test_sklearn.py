"""scikit-learn's own checks on chains that use labels; the family's list has the others."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from greyfill import MICEImputer


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@parametrize_with_checks(
    [MICEImputer(n_imputations=2, n_iter=1, labels="predictor", combine="draw")]
)
def test_estimator_checks(estimator, check) -> None:
    check(estimator)
