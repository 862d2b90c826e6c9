"""Speed and memory of our imputers beside scikit-learn's, each in its own process.

    python benchmarks/speed.py                     20 000 × 20, 10 % holes, two classes, k = 10
    python benchmarks/speed.py --rows 5000 --repeats 1 --only CGKNN "sklearn KNNImputer"
    python benchmarks/speed.py --bars              one row, and tables of rank 6; one thread each

Prints seconds of ``fit_transform`` (median, least, most), the memory it needed beyond what the
process held before the call, and both as a ratio to scikit-learn's KNNImputer in the same run.
"""

import argparse
import os

from harness import CONTESTANTS, Measured, Scenario, race

YARDSTICK = "sklearn KNNImputer"
USUAL = [YARDSTICK, "sklearn IterativeImputer", "CGKNN", "CGKNN, k by cv", "GKNN", "IKNN", "KNNI"]


def show(results: dict[str, Measured]) -> None:
    print(f"{'':28}{'seconds (least–most)':>26}{'faster':>10}{'MiB':>8}{'of its memory':>15}")
    base = results.get(YARDSTICK, Measured())
    for name, result in results.items():
        if result.error:
            print(f"{name:28}{result.error:>26}")
            continue
        span = f"{result.median:.2f} ({min(result.seconds):.2f}–{max(result.seconds):.2f})"
        faster, share = base.median / result.median, result.memory / base.memory
        print(f"{name:28}{span:>26}{faster:>9.1f}×{result.memory:>8.0f}{share:>14.1%}")


def bars(repeats: int) -> None:
    """Milliseconds of one row, and tables without skew beside the yardstick."""
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")  # of the runs to come
    from limits import one_row

    for rows, columns in ((300, 13), (20_000, 20)):
        median, high = one_row(Scenario(rows=rows, columns=columns, rate=0.2))
        print(f"one row, {rows} × {columns}: median {median:.2f} ms, 95 % below {high:.2f} ms")
    for rows in (10_000, 20_000):
        results = race([YARDSTICK, "CGKNN, one thread"], Scenario(rows, 20, 0.2, rank=6), repeats)
        print(f"{rows} × 20 of rank 6, 20 % holes, two classes")
        show(results)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--rate", type=float, default=0.1)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=USUAL, choices=list(CONTESTANTS))
    parser.add_argument("--bars", action="store_true")
    given = parser.parse_args()
    if given.bars:
        bars(given.repeats)
        return
    scenario = Scenario(rows=given.rows, columns=given.columns, rate=given.rate)
    print(f"{given.rows} × {given.columns}, {given.rate:.0%} holes, two classes")
    show(race(given.only, scenario, given.repeats))


if __name__ == "__main__":
    main()
