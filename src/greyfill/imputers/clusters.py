"""Imputers of fuzzy clusters."""

from functools import partial
from typing import Any

import numpy as np

from greyfill._systems.column_models import GreyRidge
from greyfill._systems.fuzzy import Clusters, best_on_hidden, fit_clusters
from greyfill.checks import check_number, check_whole
from greyfill.imputers.estimator import learned, parameter
from greyfill.imputers.opt import ModelFamily
from greyfill.imputers.systems import IterativeSystem
from greyfill.table import Floats, Ints, Table

SIZES, FUZZINESS = (2, 3, 5, 8, 12, 20), (1.2, 1.5, 2.0)
"""What is tried on hidden cells where nothing is set."""

check_fuzziness = partial(check_number, least=1.0, most=10.0, is_open=True)


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

    n_clusters: int | str = parameter(default="auto", check=check_whole, auto=True, kw_only=False)
    fuzziness: float | str = parameter(default="auto", check=check_fuzziness, auto=True)
    n_init: int = parameter(default=3, check=check_whole)
    tol: float = parameter(default=1e-5, check=check_number, is_open=True)

    n_clusters_: int = learned(empty=SIZES[0])
    fuzziness_: float = learned(empty=FUZZINESS[0])
    errors_: dict[tuple[int, float], float] = learned(empty={})
    _fitted: Clusters = learned()

    def _learn_rows(self, table: Table, labels: Ints | None) -> Floats:
        seed, steps = self._seed(), int(self.max_iter)
        sizes = SIZES if isinstance(self.n_clusters, str) else (int(self.n_clusters),)
        fuzzy = FUZZINESS if isinstance(self.fuzziness, str) else (float(self.fuzziness),)
        pairs = [(k, m) for k in sizes if k <= table.n_rows for m in fuzzy] or [(1, fuzzy[0])]

        def trial(part: Table, pair: tuple[int, float]) -> Floats:
            rng = np.random.default_rng(seed)
            return fit_clusters(part, *pair, rng, n_init=1, max_iter=steps, tol=1e-3)[0].fill(part)

        (k, m), self.errors_ = best_on_hidden(table, seed, pairs, trial)
        self.n_clusters_, self.fuzziness_ = min(k, table.n_rows), m
        self._report(f"{self.n_clusters_} clusters, fuzziness {m}")
        how: Any = {"n_init": self.n_init, "max_iter": steps, "tol": self.tol}
        rng = np.random.default_rng(seed)
        self._fitted, self.history_ = fit_clusters(table, self.n_clusters_, m, rng, **how)
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

    n_clusters: int = parameter(default=3, check=check_whole, kw_only=False)
    fuzziness: float = parameter(default=1.5, check=check_fuzziness)
    rho: float = parameter(default=0.5, check=check_number, most=1.0, is_open=True)
    ridge: float = parameter(default=1.0, check=check_number, is_open=True)

    def _learner(self) -> Any:
        fuzziness, rho, ridge = float(self.fuzziness), float(self.rho), float(self.ridge)
        return GreyRidge(int(self.n_clusters), fuzziness, rho, ridge)
