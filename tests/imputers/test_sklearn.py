"""scikit-learn's own checks, on every public imputer; no failure is expected."""

import pytest
from imputers.family import IMPUTERS, quick
from sklearn.utils.estimator_checks import parametrize_with_checks


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@parametrize_with_checks([quick(imputer) for imputer in IMPUTERS])
def test_estimator_checks(estimator, check) -> None:
    check(estimator)
