"""The peers in Python, each a function from a job to its filled cells; imported when first used."""

from collections.abc import Callable
from importlib.metadata import version as version_of
from typing import Any

import numpy as np
from encoding import CATEGORICAL, NUMERIC, ORDINAL, Job, Matrix, as_frame, from_frame, spared


def of_numbers(make: Callable[[Job], Any], **options: bool) -> Callable[[Job], np.ndarray]:
    """A transformer of numbers, on the matrix that the options of ``Matrix`` describe."""

    def fill(job: Job) -> np.ndarray:
        matrix = Matrix(job, **options)
        return matrix.decoded(make(job).fit_transform(matrix.cells))

    return fill


def mean(job: Job) -> np.ndarray:
    return np.where(np.isnan(job.cells), job.centers(), job.cells)


def sklearn_knn(job: Job) -> Any:
    from sklearn.impute import KNNImputer

    return KNNImputer(keep_empty_features=True)


def sklearn_iterative(job: Job) -> Any:
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    return IterativeImputer(random_state=job.seed, keep_empty_features=True)


def gcimpute(job: Job) -> np.ndarray:
    """Columns are ordinal or continuous by the package's own rule, but never truncated.

    The rule: ordinal if one value has more than a tenth of the cells. Its search for truncated
    columns ends in an error on some tables.
    """
    from gcimpute.gaussian_copula import GaussianCopula

    matrix = Matrix(job, scaled=False, base=True)
    is_ordinal = [_most_frequent_share(column) > 0.1 for column in matrix.cells.T]
    types = {
        "ordinal": np.flatnonzero(is_ordinal).tolist() or None,
        "continuous": np.flatnonzero(~np.array(is_ordinal)).tolist() or None,
    }
    return matrix.decoded(
        GaussianCopula(random_state=job.seed).fit_transform(matrix.cells, **types)
    )


def _most_frequent_share(column: np.ndarray) -> float:
    seen = column[~np.isnan(column)]
    return float(np.unique(seen, return_counts=True)[1].max() / len(seen))


def soft_impute(job: Job) -> Any:
    from fancyimpute import SoftImpute

    return SoftImpute(verbose=False)


def faiss_imputer(job: Job) -> Any:
    from faiss_imputer import FaissImputer

    return FaissImputer(n_neighbors=5, donor_policy="available")


class OfFrames:
    """A transformer of frames, on a matrix."""

    def __init__(self, imputer: Any) -> None:
        self._imputer = imputer

    def fit_transform(self, cells: np.ndarray) -> np.ndarray:
        import pandas as pd

        frame = pd.DataFrame(cells, columns=[f"x{j}" for j in range(cells.shape[1])])
        return np.asarray(self._imputer.fit(frame).transform(frame))


def mlimputer(job: Job) -> Any:
    """It fills numeric columns only."""
    from mlimputer import MLimputer

    config = {"RandomForest": {"random_state": job.seed}}
    return OfFrames(MLimputer("RandomForest", config))


def datafiller(job: Job) -> np.ndarray:
    from datafiller import MultivariateImputer

    return from_frame(MultivariateImputer(rng=job.seed).fit_transform(as_frame(job)), job)


def _as_objects(frame: Any) -> Any:
    return frame.astype({name: object for name in frame if frame[name].dtype == "category"})


def missingly_gower(job: Job) -> np.ndarray:
    from missingly.impute import impute_knn

    return from_frame(impute_knn(_as_objects(as_frame(job)), metric="mixed"), job)


def missingly_hot_deck(job: Job) -> np.ndarray:
    from missingly.hotdeck import impute_hotdeck_weighted

    return from_frame(impute_hotdeck_weighted(as_frame(job), random_state=job.seed), job)


def missforest(job: Job) -> np.ndarray:
    """Categories go in as codes, as the package asks for."""
    import pandas as pd
    from missforest import MissForest

    names = [f"x{j}" for j in range(len(job.kinds))]
    is_category = [kind == CATEGORICAL for kind in job.kinds]
    categories = [name for name, yes in zip(names, is_category, strict=True) if yes]
    imputer = MissForest(categorical=categories or None, verbose=0)
    filled = imputer.fit_transform(pd.DataFrame(job.cells, columns=names))
    return filled[names].to_numpy(dtype=np.float64)


def verstack(job: Job) -> np.ndarray:
    """Columns that the package drops, for want of values, are left as holes."""
    from verstack import NaNImputer

    frame = _as_objects(as_frame(job))
    filled = NaNImputer(verbose=False).impute(frame)
    return from_frame(filled.reindex(columns=frame.columns), job)


def miceforest(job: Job) -> np.ndarray:
    """One data set without mean matching: predictions, not draws."""
    from miceforest import ImputationKernel

    frame = as_frame(job)
    kernel = ImputationKernel(
        frame,
        num_datasets=1,
        mean_match_strategy="fast",
        mean_match_candidates=0,
        random_state=job.seed,
    )
    kernel.mice(5, num_threads=1)
    return from_frame(kernel.complete_data(0), job)


def miceforest_draws(job: Job, n: int) -> np.ndarray:
    """Data sets by the package's own settings: mean matching draws."""
    from miceforest import ImputationKernel

    kernel = ImputationKernel(as_frame(job), num_datasets=n, random_state=job.seed)
    kernel.mice(5, num_threads=1)
    return np.stack([from_frame(kernel.complete_data(i), job) for i in range(n)])


def utrees_draws(job: Job, n: int) -> np.ndarray:
    from utrees import UnmaskingTrees

    kinds = [{ORDINAL: "integer", NUMERIC: "continuous"}.get(kind, kind) for kind in job.kinds]
    model = UnmaskingTrees(random_state=job.seed).fit(job.cells, quantize_cols=kinds)
    return np.asarray(model.impute(n_impute=n))


def forest_diffusion_draws(job: Job, n: int) -> np.ndarray:
    """Diffusion by "vp", the one that imputes; categories of two levels are rounded numbers."""
    from ForestDiffusion import ForestDiffusionModel

    matrix = Matrix(job, scaled=False, base=True)
    model = ForestDiffusionModel(matrix.cells, diffusion_type="vp", n_jobs=1, seed=job.seed)
    drawn = model.impute(k=n)
    return np.stack(
        [matrix.decoded(cells) for cells in np.reshape(drawn, (n, *matrix.cells.shape))]
    )


def hyperimpute(plugin: str) -> Callable[[Job], np.ndarray]:
    """A plugin of hyperimpute, on indicators of the levels and numbers scaled to [0, 1]."""

    def make(job: Job) -> Any:
        from hyperimpute.plugins.imputers import Imputers

        return OfFrames(Imputers().get(plugin, random_state=job.seed))

    return of_numbers(make)


METHODS: dict[str, Callable[[Job], np.ndarray]] = {
    "mean": mean,
    "sklearn KNN": of_numbers(sklearn_knn),
    "sklearn Iterative": of_numbers(sklearn_iterative),
    "gcimpute": spared(gcimpute),
    "fancyimpute SoftImpute": of_numbers(soft_impute),
    "faiss-imputer": of_numbers(faiss_imputer),
    "mlimputer": of_numbers(mlimputer),
    "datafiller": datafiller,
    "missingly Gower": missingly_gower,
    "missingly hot deck": missingly_hot_deck,
    "missforest": missforest,
    "verstack": verstack,
    "miceforest": spared(miceforest),
    "hyperimpute EM": hyperimpute("EM"),
    "hyperimpute HyperImpute": hyperimpute("hyperimpute"),
    "hyperimpute ICE": hyperimpute("ice"),
}
DRAWING: dict[str, Callable[..., np.ndarray]] = {
    "miceforest": miceforest_draws,
    "utrees": utrees_draws,
    "ForestDiffusion": forest_diffusion_draws,
}
PACKAGES = {"sklearn": "scikit-learn", "mean": "numpy"}


def version(method: str) -> str:
    """The version of the package that a method is named after."""
    first = method.split(maxsplit=1)[0].removesuffix("+y").removesuffix("/class")
    return version_of(PACKAGES.get(first, first))
