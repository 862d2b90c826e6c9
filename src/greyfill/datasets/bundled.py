"""The bundled tables: one CSV file each, and one entry in ``data/sources.json``."""

import json
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, Literal, get_args

import narwhals as nw

from greyfill.checks import check_installed
from greyfill.exceptions import InvalidParameterError

Library = Literal["polars", "pandas", "pyarrow"]

_DATA = files("greyfill.datasets") / "data"


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table with its class labels, the kinds of its columns, and where it comes from.

    ``X`` and ``y`` are a frame and a column of the library that was asked for; ``target`` is the
    name of ``y``. Columns that are neither categorical nor ordinal are numeric.

    >>> iris = load("iris", library="pandas")
    >>> iris.X.shape, iris.target, iris.categorical_features
    ((150, 4), 'class', ())
    """

    name: str
    X: Any = field(repr=False)
    y: Any = field(repr=False)
    target: str
    categorical_features: tuple[str, ...]
    ordinal_features: tuple[str, ...]
    description: str = field(repr=False)
    source: str = field(repr=False)
    licence: str = field(repr=False)


def names() -> tuple[str, ...]:
    """List the names that :func:`load` knows.

    >>> names()
    ('votes', 'hepatitis', 'penguins', 'iris')
    """
    return tuple(_sources())


def load(name: str, *, library: Library = "polars") -> Dataset:
    """Load one of the bundled tables as a frame with a label for each row.

    Parameters
    ----------
    name
        One of :func:`names`.
    library
        The frame library of ``X`` and ``y``. Categories are strings. Whole numbers stay whole,
        except in a pandas column with holes, which is ``float64`` as pandas itself would read it.

    Examples
    --------
    >>> votes = load("votes")
    >>> votes.X.shape, votes.X.null_count().sum_horizontal().item()
    ((435, 16), 392)
    >>> votes.y.value_counts(sort=True).rows()
    [('democrat', 267), ('republican', 168)]
    >>> load("penguins").ordinal_features
    ('year',)
    """
    sources = _sources()
    _check("name", name, tuple(sources))
    _check("library", library, get_args(Library))
    check_installed(library, f"A table of {library}")
    about = sources[name]
    columns = _iris() if name == "iris" else _read(name, about)
    frame = nw.from_dict(columns, backend=library)
    return Dataset(
        name=name,
        X=frame.drop(about["target"]).to_native(),
        y=frame[about["target"]].to_native(),
        target=about["target"],
        categorical_features=tuple(about["categorical_features"]),
        ordinal_features=tuple(about["ordinal_features"]),
        description=about["description"],
        source=about["source"],
        licence=about["licence"],
    )


def _check(parameter: str, value: str, valid: tuple[str, ...]) -> None:
    if value not in valid:
        raise InvalidParameterError(f"{parameter}={value!r} is not one of {', '.join(valid)}")


def _sources() -> dict[str, dict[str, Any]]:
    text = (_DATA / "sources.json").read_text(encoding="utf-8")
    sources: dict[str, dict[str, Any]] = json.loads(text)
    return sources


def _read(name: str, about: dict[str, Any]) -> dict[str, list[Any]]:
    """Read the columns of a bundled file: categories as text, numbers as polars infers them."""
    import polars as pl

    text = dict.fromkeys([*about["categorical_features"], about["target"]], pl.String)
    content = (_DATA / f"{name}.csv").read_bytes()
    frame = pl.read_csv(content, schema_overrides=text, infer_schema_length=None)
    return frame.to_dict(as_series=False)


def _iris() -> dict[str, list[Any]]:
    """Take iris from scikit-learn, so that no copy has to be bundled."""
    from sklearn.datasets import load_iris

    iris = load_iris()
    sizes = ("sepal_length", "sepal_width", "petal_length", "petal_width")
    columns = {size: iris.data[:, j].tolist() for j, size in enumerate(sizes)}
    return {**columns, "class": iris.target_names[iris.target].tolist()}
