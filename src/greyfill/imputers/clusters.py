"""Imputers of fuzzy clusters."""

from dataclasses import field
from typing import Any

import numpy as np

from greyfill._systems.column_models import GreyRidge
from greyfill._systems.fuzzy import Clusters, choose_clusters, fit_clusters
from greyfill._systems.layout import FeatureLayout
from greyfill.checks import check_whole, is_number
from greyfill.exceptions import InvalidParameterError
from greyfill.imputers.estimator import learned
from greyfill.imputers.opt import ModelFamily, check_positive
from greyfill.imputers.systems import IterativeSystem
from greyfill.table import Floats, Ints, Table

SIZES, FUZZINESS = (2, 3, 5, 8, 12, 20), (1.2, 1.5, 2.0)
"""What is tried on hidden cells where nothing is set."""


def _check_fuzziness(value: Any) -> None:
    if not is_number(value) or not 1.0 < value <= 10.0:
        raise InvalidParameterError(f"fuzziness must lie in (1, 10], not {value!r}")


class FuzzyKMeansImputer(IterativeSystem):
    """Fuzzy k-means imputation (Li et al. 2004), on partial distances (Hathaway and Bezdek 2001).

    d²_ik = p / |o_i| · Σ_{j ∈ o_i} (x_ij − v_kj)²,  u_ik = d_ik^(−2/(m−1)) / Σ_l d_il^(−2/(m−1))

    Centers are the means of observed cells by u^m p / |o_i|; both steps lower Σ u^m d², which never
    rises. A hole becomes Σ_k u^m v_kj / Σ_k u^m, the optimal completion. Numbers are scaled to
    [0, 1], a category is an indicator for each level at squared distance 1 from the others, and the
    largest wins. The class plays no part. Of several starts the lowest objective is kept.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        How many. "auto": of 2, 3, 5, 8, 12 and 20 those that best restore a tenth of the cells,
        which is hidden.
    fuzziness : float or "auto", default="auto"
        m > 1; near 1 a row belongs to one cluster. "auto": of 1.2, 1.5 and 2, likewise.
    n_init : int, default=3
        Starts.
    tol : float, default=1e-5
        Share of the objective that a step must take away.

    Attributes
    ----------
    n_clusters_, fuzziness_ : int, float
        What was used.
    errors_ : dict of (int, float) to float
        Mean squared error of the hidden cells for each pair that was tried.
    n_iter_, history_ : int, list of float
        Steps of the best start, and the objective after each.

    >>> import numpy as np
    >>> X = np.array([[1.0, 2.0], [1.0, np.nan], [1.0, 2.0], [5.0, 8.0], [np.nan, 8.0], [5.0, 8.0]])
    >>> FuzzyKMeansImputer(n_clusters=2).fit_transform(X)[[1, 4], [1, 0]]
    array([2., 5.])
    """

    n_clusters: int | str = field(default="auto", kw_only=False)
    fuzziness: float | str = "auto"
    n_init: int = 3
    tol: float = 1e-5

    n_clusters_: int = learned()
    fuzziness_: float = learned()
    errors_: dict[tuple[int, float], float] = learned()
    _fitted: Clusters = learned()

    def _check_settings(self) -> None:
        super()._check_settings()
        if not isinstance(self.n_clusters, str) or self.n_clusters != "auto":
            check_whole("n_clusters", self.n_clusters, otherwise=" or 'auto'")
        if not isinstance(self.fuzziness, str) or self.fuzziness != "auto":
            _check_fuzziness(self.fuzziness)
        check_whole("n_init", self.n_init)
        check_positive("tol", self.tol)

    def _fit_nothing(self) -> None:
        super()._fit_nothing()
        chosen = isinstance(self.n_clusters, str)
        self.n_clusters_ = SIZES[0] if chosen else int(self.n_clusters)
        fuzzy = self.fuzziness
        self.fuzziness_ = FUZZINESS[0] if isinstance(fuzzy, str) else float(fuzzy)
        self.errors_ = {}

    def _learn_rows(self, table: Table, labels: Ints | None) -> Floats:
        seed = self._seed()
        sizes = SIZES if isinstance(self.n_clusters, str) else (self.n_clusters_,)
        fuzzy = FUZZINESS if isinstance(self.fuzziness, str) else (self.fuzziness_,)

        def trial(part: Table, k: int, m: float) -> Clusters:
            rng = np.random.default_rng(seed)
            how = {"n_init": 1, "max_iter": self.max_iter, "tol": 1e-3}
            return fit_clusters(FeatureLayout.learn(part), part, k, m, rng, **how)[0]  # type: ignore[arg-type]

        rng = np.random.default_rng(seed)
        (k, m), self.errors_ = choose_clusters(table, sizes, fuzzy, seed, trial)
        self.n_clusters_, self.fuzziness_ = min(k, table.n_rows), m
        self._report(f"{self.n_clusters_} clusters, fuzziness {m}")
        self._fitted, self.history_ = fit_clusters(
            FeatureLayout.learn(table), table, self.n_clusters_, m, rng,
            n_init=self.n_init, max_iter=self.max_iter, tol=self.tol,
        )  # fmt: skip
        self.n_iter_ = len(self.history_)
        return self._fitted.fill(table)


class GreyFuzzyImputer(ModelFamily):
    """Grey fuzzy c-means with mutual information (after Sefidian and Daneshpour 2019).

    Rows belong to clusters by d = 1 − GRG, one minus the grey relational grade to the center; in
    each cluster a column is predicted by a ridge regression, in which a row weighs as much as it
    belongs, on the columns whose mutual information with it, in up to 400 rows, is above what
    chance gives (5 permutations); a hole becomes Σ_k u_k (β_k0 + β_k x). Clusters are found
    without the column that is predicted. Again while the loss on observed cells falls, from mean
    and mode and from a fill by neighbors. Numbers are scaled to [0, 1]; categories are indicators,
    the largest wins. The paper's own choice of clusters, by their size and number, is not
    followed: k and m are parameters here.

    Parameters
    ----------
    n_clusters : int, default=3
        How many.
    fuzziness : float, default=1.5
        m > 1; near 1 a row belongs to one cluster.
    rho : float, default=0.5
        The distinguishing coefficient ρ of the grades, in (0, 1].
    ridge : float, default=1.0
        Penalty of the slopes.

    >>> import numpy as np
    >>> x = np.linspace(0, 1, 30)
    >>> X = np.column_stack([x, 1 - x])
    >>> X[7, 1] = np.nan
    >>> bool(abs(GreyFuzzyImputer().fit_transform(X)[7, 1] - (1 - x[7])) < 0.1)
    True
    """

    n_clusters: int = field(default=3, kw_only=False)
    fuzziness: float = 1.5
    rho: float = 0.5
    ridge: float = 1.0

    def _learner(self) -> Any:
        _check_fuzziness(self.fuzziness)
        if not is_number(self.rho) or not 0.0 < self.rho <= 1.0:
            raise InvalidParameterError(f"rho must lie in (0, 1], not {self.rho!r}")
        clusters = check_whole("n_clusters", self.n_clusters)
        ridge = check_positive("ridge", self.ridge)
        return GreyRidge(clusters, float(self.fuzziness), float(self.rho), ridge)
