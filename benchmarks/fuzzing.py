"""What the three fuzzers share: bounded, coverage-guided runs by atheris from a folder of seeds."""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

KERNELS = [
    f"greyfill.{name}"
    for name in ("_search.kernels", "_search.distances", "_chained.tree_walk", "files.tokens")
]
"""What numba compiles, and must see as it is written."""


def instrumented() -> None:
    """Import greyfill so that atheris sees which lines run."""
    import atheris

    with atheris.instrument_imports(include=["greyfill"], exclude=KERNELS):
        import greyfill.cli.impute_command
        import greyfill.jobs.fill_job
        import greyfill.persistence  # noqa: F401


def fuzz(about: str, one_input: Callable[[bytes], None], seeds: Iterable[bytes]) -> None:
    """Run ``one_input`` on mutated seeds until time is up; a crash ends the run with its input.

    atheris prints the number of runs at the end ("Done … runs in … second(s)").
    """
    import atheris

    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--length", type=int, default=2_000, help="the longest input, in bytes")
    parser.add_argument("inputs", nargs="*", help="files to run once instead of fuzzing")
    given = parser.parse_args()
    if given.inputs:
        for name in given.inputs:
            one_input(Path(name).read_bytes())
        return
    corpus = Path(tempfile.mkdtemp(prefix="greyfill-fuzz-"))
    for number, seed in enumerate(seeds):
        (corpus / f"seed{number}").write_bytes(seed)
    limits = [f"-max_total_time={given.seconds}", f"-max_len={given.length}", "-rss_limit_mb=4096"]
    atheris.Setup([sys.argv[0], *limits, "-timeout=60", "-print_final_stats=1",
                   f"-artifact_prefix={corpus}/crash-", str(corpus)], one_input)  # fmt: skip
    atheris.Fuzz()
