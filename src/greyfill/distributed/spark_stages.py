"""An imputer as a stage of a Spark pipeline, which is saved with it.

A fitted stage keeps its imputer in greyfill's own safe format, in a Parquet file of one cell, so
that it can lie wherever Spark writes.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

from pyspark.ml import Estimator, Model
from pyspark.ml.util import (
    DefaultParamsReader,
    DefaultParamsWriter,
    MLReadable,
    MLReader,
    MLWritable,
    MLWriter,
)

from greyfill import imputers, persistence
from greyfill.distributed.donor_sample import DONORS
from greyfill.distributed.spark import fill_spark, fit_spark
from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.imputers.grey import GreyImputer


class SparkImputer(Estimator, MLWritable, MLReadable):
    """An imputer as a stage of a Spark pipeline; its model fills rows by `fill_spark`.

    Parameters
    ----------
    imputer
        What to do; None means ``GreyImputer()``.
    target, ignored, donors
        As those of `fit_spark`.

    >>> from pyspark.ml import Pipeline  # doctest: +SKIP
    >>> Pipeline(stages=[SparkImputer(target="outcome")]).fit(visits)  # doctest: +SKIP
    """

    def __init__(
        self,
        imputer: Any = None,
        *,
        target: str | None = None,
        ignored: tuple[str, ...] = (),
        donors: int | str = DONORS,
    ) -> None:
        super().__init__()
        self.imputer = GreyImputer() if imputer is None else imputer
        self.options = {"target": target, "ignored": list(ignored), "donors": donors}

    def _fit(self, dataset: Any) -> "SparkImputerModel":
        options = {**self.options, "ignored": tuple(self.options["ignored"])}  # type: ignore[arg-type]
        return SparkImputerModel(fit_spark(dataset, self.imputer, **options))  # type: ignore[arg-type]

    def write(self) -> Any:
        """What writes this stage."""
        return _StageWriter(self, {"imputer": described(self.imputer), **self.options})

    @classmethod
    def read(cls) -> Any:
        """What reads such a stage."""
        return _EstimatorReader(cls)


class SparkImputerModel(Model, MLWritable, MLReadable):
    """A fitted imputer as a stage of a Spark pipeline.

    Parameters
    ----------
    imputer
        A fitted imputer.
    """

    def __init__(self, imputer: Any = None) -> None:
        super().__init__()
        self.imputer = imputer

    def _transform(self, dataset: Any) -> Any:
        return fill_spark(dataset, self.imputer)

    def write(self) -> Any:
        """What writes this stage: greyfill's own safe format, in a Parquet file of one cell."""
        return _StageWriter(self, {}, self.imputer)

    @classmethod
    def read(cls) -> Any:
        """What reads such a stage."""
        return _ModelReader(cls)


class _StageWriter(MLWriter):
    def __init__(self, stage: Any, options: dict[str, Any], imputer: Any = None) -> None:
        super().__init__()
        self.stage, self.options, self.imputer = stage, options, imputer

    def saveImpl(self, path: str) -> None:  # Spark's name
        extra = {"greyfill": json.dumps(self.options)}
        DefaultParamsWriter.saveMetadata(self.stage, path, self.sc, extraMetadata=extra)
        if self.imputer is not None:
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "model.greyfill"
                persistence.save(self.imputer, file)
                rows = [(bytearray(file.read_bytes()),)]
            frame = self.sparkSession.createDataFrame(rows, "model binary")
            frame.coalesce(1).write.parquet(f"{path}/model")


class _EstimatorReader(MLReader):
    def __init__(self, cls: type) -> None:
        super().__init__()
        self.cls = cls

    def load(self, path: str) -> Any:
        metadata = DefaultParamsReader.loadMetadata(path, self.sc)
        options = json.loads(metadata["greyfill"])
        return self.cls(rebuilt(options.pop("imputer")), **options)


class _ModelReader(_EstimatorReader):
    def load(self, path: str) -> Any:
        cell = self.sparkSession.read.parquet(f"{path}/model").collect()[0][0]
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "model.greyfill"
            file.write_bytes(bytes(cell))
            return self.cls(persistence.load(file))


def described(imputer: Any) -> dict[str, Any]:
    """An imputer that is not fitted: the name of its class, and parameters that JSON can hold."""
    params = {name: value for name, value in imputer.get_params().items() if value is not None}
    try:
        json.dumps(params)
    except TypeError as error:
        raise InvalidParameterError(
            f"{imputer!r} has a parameter that a Spark pipeline cannot save ({error}). Fit it, and "
            "save the fitted pipeline."
        ) from error
    return {"class": type(imputer).__name__, "params": params}


def rebuilt(description: dict[str, Any]) -> Any:
    """The imputer of a description; only classes of greyfill are made."""
    name = description["class"]
    if name not in imputers.__all__:
        raise InvalidDataError(f"a saved pipeline names {name!r}, which is no imputer of greyfill")
    return getattr(imputers, name)(**description["params"])
