"""scikit-learn's own checks, on every public imputer and the classifiers of
the systems; no failure is expected."""

import pytest
from imputers.family import IMPUTERS, quick
from sklearn.utils.estimator_checks import parametrize_with_checks

import greyfill


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@parametrize_with_checks(
    [
        *[quick(imputer) for imputer in IMPUTERS],
        greyfill.MultiTaskMLPClassifier(max_iter=150),
        greyfill.LVQClassifier(),
    ]
)
def test_estimator_checks(estimator, check) -> None:
    check(estimator)
