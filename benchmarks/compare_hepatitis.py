"""How long the default comparison takes: ten methods, two rates, three seeds, on hepatitis.

python benchmarks/compare_hepatitis.py
"""

import time

import greyfill
from greyfill.datasets import load


def main() -> None:
    start = time.perf_counter()
    result = greyfill.compare(load("hepatitis"), n_jobs=2, progress=False)
    seconds = time.perf_counter() - start
    print(result.summary())
    print(f"{result.results['method'].n_unique()} methods in {seconds:.0f} s")


if __name__ == "__main__":
    main()
