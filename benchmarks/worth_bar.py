"""Does ``worth`` say the same as ten times repeated nested cross-validation?

    python benchmarks/worth_bar.py [--cases 10] [--repeats 10] [--cache FOLDER]

A case is a bundled table (iris, hepatitis, penguins, votes) and a seed of the holes that are made
in it, 20 % of the cells completely at random; hepatitis, penguins and votes keep their own holes
beside. ``worth`` as it is by default is asked once with a seed of its own, and once with so many
repeats. Prints whether both name the same winner (plain, imputing or reading), and with what gain;
or whether the default calls a gain below its error one that does not matter.
Also measures the CPU seconds of ``worth`` on 1 000 × 20 numbers (``--speed``).
"""

import argparse
import time
import warnings
from collections import Counter

import numpy as np
from sklearn.datasets import make_classification

from greyfill import ampute, worth
from greyfill.datasets import load
from greyfill.evaluation import Worth

NAMES = ("iris", "penguins", "votes", "hepatitis")


def case(number: int) -> tuple[str, object, object]:
    """A table with more holes, and its classes."""
    data, seed = load(NAMES[number % len(NAMES)]), number // len(NAMES)
    holed, _ = ampute(
        data.X,
        rate=0.2,
        random_state=seed,
        categorical_features=data.categorical_features,
        ordinal_features=data.ordinal_features or None,
    )
    return f"{data.name}, holes of seed {seed}", holed, data


def said(found: Worth) -> str:
    """The winner and the gains that decided."""
    gains = [f"{group} {g[found.metric].words}" for group, g in found.gains.items()]
    return f"{found.winner} ({'; '.join(gains)})"


def agreement(once: Worth, often: Worth) -> str:
    """How a verdict stands to that of many repeats; its "does not matter" is below its error."""
    if once.winner == often.winner:
        return "the same winner"
    return "another winner" if once.matters else "a gain that does not matter to the default"


def speed() -> None:
    """CPU seconds on 1 000 rows and 20 columns, 20 % holes, one process, after compilation."""
    X, y = make_classification(1000, 20, n_informative=8, flip_y=0.1, random_state=0)
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    worth(X[:80], y[:80], n_splits=2, repeats=1, n_inner=2, n_draws=2, progress=False)
    start, wall = time.process_time(), time.perf_counter()
    found = worth(X, y, progress=False)
    used = time.process_time() - start
    print(f"1 000 × 20: {used:.0f} CPU s ({used / 2:.0f} s on two cores of its own)")
    print(f"{time.perf_counter() - wall:.0f} s by the clock of this machine, one process")
    print(found.verdict)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--cache", default=None)
    parser.add_argument("--speed", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.speed:
        speed()
        return
    said_of: Counter[str] = Counter()
    for number in range(given.cases):
        name, X, data = case(number)
        kinds = {
            "categorical_features": data.categorical_features,
            "ordinal_features": data.ordinal_features or None,
        }
        common = {**kinds, "progress": False, "cache": given.cache, "name": name}
        once = worth(X, data.y, random_state=1000, **common)
        often = worth(X, data.y, repeats=given.repeats, **common)
        said_of[agreement(once, often)] += 1
        print(f"{name}: once {said(once)}; {given.repeats} times {said(often)}", flush=True)
    print("\n" + "; ".join(f"{words}: {n} of {given.cases}" for words, n in said_of.items()))


if __name__ == "__main__":
    main()
