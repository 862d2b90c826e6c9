"""Save a fitted imputer to a file, and load it without running any code from the file.

```
imputer ── codec ──> JSON tree + arrays ── archive ──> one zip file with a manifest
```

``archive``          the zip file: version, checksums, sizes, arrays as npy
``codec``            values ⇄ nodes of the tree
``tags``             the only types that a file may name, and the types that fields are declared as
``record_rules``     what must hold within a record, so that no kernel leaves its arrays
``engine_rules``     the same for the chained and joint engines and the systems of the literature
``estimator_rules``  what must hold between parameters, columns and what was learned

Loading checks in this order: the file is an archive of ours and its checksums hold; every type it
names is tagged; every value is of its declared type and finite; every record and the estimator
keep their rules. Saving runs the same rules: what is written can be read.

A file can only name types from a fixed list of our own; everything else in it is numbers, texts
and arrays. Pickle works too, for joblib's sake, but a pickle can run anything when it is loaded:
never load one that you did not write yourself.
"""

from os import PathLike
from pathlib import Path
from typing import Any

from greyfill.exceptions import PersistenceError
from greyfill.persistence.archive import MAX_BYTES, read_archive, write_archive

__all__ = ["load", "save"]


def save(imputer: Any, path: str | Path) -> None:
    """Write a fitted imputer to ``path``; an older file there is replaced at once or not at all.

    >>> import numpy as np, tempfile, pathlib
    >>> from greyfill import KNNIImputer, load
    >>> X = np.array([[1.0, 2.0], [1.1, np.nan], [5.0, 6.0]])
    >>> imputer = KNNIImputer(n_neighbors=1).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "model.greyfill"
    ...     imputer.save(path)
    ...     load(path).transform(X)[1].tolist()
    [1.1, 2.0]
    """
    from greyfill.persistence.codec import encode_tree

    tree, members = encode_tree(imputer)
    write_archive(_as_path(path), type(imputer).__name__, tree, members)


def load(path: str | Path, *, max_bytes: int = MAX_BYTES) -> Any:
    """Read a fitted imputer that ``save`` wrote.

    Parameters
    ----------
    path : str or Path
        The file.
    max_bytes : int, default=8 GiB
        A file that unpacks to more than this is refused.

    >>> import numpy as np, tempfile, pathlib
    >>> from greyfill import KNNIImputer
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "model.greyfill"
    ...     KNNIImputer(n_neighbors=1).fit([[1.0, 2.0], [5.0, 6.0]]).save(path)
    ...     load(path).transform([[4.0, None]]).tolist()
    [[4.0, 6.0]]
    """
    source = _as_path(path)
    tree, members = read_archive(source, max_bytes)
    from greyfill.persistence.codec import decode_tree  # all types, after the file is checked

    return decode_tree(tree, members, source)


def _as_path(path: Any) -> Path:
    """The path of a file, or what is wrong with its name."""
    if isinstance(path, str | PathLike) and "\0" not in str(path):
        return Path(path)
    raise PersistenceError(f"path must be the name of a file, not {path!r}")
