"""Speed and memory of our imputers beside scikit-learn's, each in its own process.

    python benchmarks/speed.py                     20 000 × 20, 10 % holes, two classes, k = 10
    python benchmarks/speed.py --rows 5000 --repeats 1 --only CGKNN "sklearn KNNImputer"

Prints seconds of ``fit_transform`` (median, least, most), the memory it needed beyond what the
process held before the call, and both as a ratio to scikit-learn's KNNImputer in the same run.
"""

import argparse

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--rate", type=float, default=0.1)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=USUAL, choices=list(CONTESTANTS))
    given = parser.parse_args()
    scenario = Scenario(rows=given.rows, columns=given.columns, rate=given.rate)
    print(f"{given.rows} × {given.columns}, {given.rate:.0%} holes, two classes")
    show(race(given.only, scenario, given.repeats))


if __name__ == "__main__":
    main()
