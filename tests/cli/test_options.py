"""Options are declared once: every command that reads a table has the same ones about it."""

import inspect
import json

import polars as pl
import pytest
from sklearn.utils import get_tags

from greyfill.cli.program import COMMANDS
from greyfill.distributed.donor_sample import check_sampled
from greyfill.exceptions import InvalidParameterError
from greyfill.imputers import registry
from greyfill.jobs.options import (
    CHUNKED,
    LABEL_USES,
    LABELS,
    SAVE,
    K,
    MethodChoice,
    TableOptions,
)
from greyfill.persistence.tags import IMPUTERS

HEAVY = ("scipy", "sklearn", "numba", "matplotlib")
ABOUT_FILES = {
    "ignored", "na_values", "delimiter", "decimal", "encoding", "date_order", "header", "sheet",
    "ragged", "strict",
}  # fmt: skip


def test_every_command_that_reads_a_table_has_all_options_about_its_columns():
    named = set(inspect.signature(TableOptions).parameters)
    about = {c.__name__: named & set(inspect.signature(c).parameters) for c in COMMANDS}
    for command in ("impute", "fit", "inspect", "report", "compare", "worth", "sensitivity"):
        assert about.pop(command) == named
    assert about.pop("apply") == ABOUT_FILES  # a model has learned the rest
    assert not any(about.values())


@pytest.mark.parametrize("command", ["inspect", "impute", "sensitivity"])
def test_identifiers_can_be_quantities_in_every_command(greyfill, folder, command):
    rows = "".join(f"00{i},{'' if i == 3 else i * 2},{'uv'[i % 2]}\n" for i in range(8))
    (folder / "ids.csv").write_text(f"a,b,y\n{rows}")
    more = {
        "impute": ("-m", "knni", "-k", "1"),
        "sensitivity": ("--column", "b", "--classifier", "none", "-m", "knni", "-k", "1"),
    }
    about = (command, "ids.csv", "-t", "y", *more.get(command, ()))
    done = greyfill(*about, "--numeric", "c", exit_code=2)
    assert "no column 'c' (--numeric)" in done.stderr
    assert json.loads(greyfill(*about, "--numeric", "a", "--json").stdout)


def test_what_is_said_about_methods_is_what_they_are():
    for name in [name for name in registry.METHODS if registry.REGISTRY[name].for_files]:
        takes = inspect.signature(registry.METHODS[name]).parameters
        imputer, traits = registry.make(name), registry.REGISTRY[name].options
        assert (K in traits, LABELS in traits) == ("n_neighbors" in takes, "labels" in takes)
        assert (SAVE in traits) == (type(imputer).__name__ in IMPUTERS)
        assert MethodChoice(name).needs_classes == get_tags(imputer).target_tags.required
        assert bool(registry.REGISTRY[name].label_uses) == (LABELS in traits)
        for use in registry.REGISTRY[name].label_uses:
            required = get_tags(registry.make(name, labels=use)).target_tags.required
            assert MethodChoice(name, labels=use).needs_classes == required


@pytest.mark.parametrize("use", LABEL_USES)
@pytest.mark.parametrize("name", [n for n, m in registry.REGISTRY.items() if m.label_uses])
def test_labels_are_used_as_the_table_of_methods_says(name, use):
    X, y = [[1.0, 2.0], [None, 1.0], [3.0, 3.0], [4.0, 2.5]], ["u", "v", "u", "v"]
    imputer = registry.make(name, labels=use)
    if use in registry.REGISTRY[name].label_uses:
        assert imputer.fit_transform(X, y)[1][0] is not None
    else:
        with pytest.raises(InvalidParameterError, match="labels"):
            imputer.fit(X, y)


@pytest.mark.parametrize("name", [n for n, m in registry.REGISTRY.items() if m.for_files])
def test_partitions_are_filled_by_the_methods_that_say_so(name):
    if name not in registry.METHODS:
        pytest.skip("needs its package")
    choice = MethodChoice(method=name)
    if CHUNKED in registry.REGISTRY[name].options:
        choice.check(chunked=True)
        check_sampled(registry.make(name), "all")
    else:
        with pytest.raises(InvalidParameterError, match=CHUNKED):
            choice.check(chunked=True)


@pytest.mark.parametrize(
    "arguments",
    [
        ("impute", "table.csv", "-t", "klass"),
        ("impute", "table.csv", "-t", "outcome", "-c", "siz"),
        ("impute", "long.csv", "-t", "klass"),
        ("impute", "gone.csv", "-t", "outcome"),
        ("impute", "binary.csv", "-t", "outcome"),
        ("impute", "table.csv", "-t", "outcome", "-m", "cgnn"),
        ("impute", "table.csv", "-t", "outcome", "-m", "mean", "-k", "3"),
        ("impute", "table.csv", "-t", "outcome", "-m", "mean", "--save", "model"),
        ("impute", "table.csv", "-t", "outcome", "--test", "gone.csv"),
        ("impute", "table.csv", "-t", "dose", "-m", "cgknn"),
        ("impute", "table.csv", "-m", "cgknn"),
        ("impute", "table.csv", "-k", "3"),
        ("fit", "table.csv", "-t", "klass", "--save", "model"),
        ("worth", "table.csv", "-t", "klass"),
        ("impute", "table.parquet", "-t", "klass"),
        ("inspect", "table.csv", "-t", "klass"),
        ("report", "table.csv", "-t", "outcome", "-k", "0"),
        ("compare", "table.csv", "-t", "outcome", "-m", "meen"),
        ("sensitivity", "table.csv", "-t", "outcome", "--column", "agee"),
        ("apply", "gone", "new.csv"),
        ("apply", "table.csv", "new.csv"),
        ("apply", "table.csv", "gone.csv"),
    ],
)
def test_a_mistake_is_answered_before_anything_heavy_is_loaded(command, folder, arguments):
    rows = "".join(f"{i},{'uv'[i % 2]}\n" for i in range(20_000))
    (folder / "long.csv").write_text(f"age,outcome\n{rows}")
    (folder / "binary.csv").write_bytes(b"a,outcome\n1," + b"\0" * 20 + b"\n")
    pl.read_csv(folder / "table.csv").write_parquet(folder / "table.parquet")
    assert _loaded(command, HEAVY, arguments) == b"[]\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("impute", "table.csv", "-t", "klass"),
        ("impute", "table.csv", "--fill", "klass"),
        ("impute", "table.csv", "--not-applicable", "klass"),
        ("impute", "table.csv", "--bounds", "klass=0:1"),
        ("impute", "table.csv", "--bounds", "age"),
        ("impute", "table.csv", "--sheet", "2"),
        ("impute", "table.csv", "--decimal", "x"),
        ("impute", "table.csv", "--date-order", "ymd"),
        ("impute", "table.jsonl", "-t", "klass"),
        ("impute", "table.xlsx", "-t", "klass"),
        ("impute", "table.xlsx", "--sheet", "klass"),
        ("impute", "table.csv", "-o", "nowhere/table.csv"),
        ("inspect", "table.csv", "-t", "klass"),
        ("compare", "table.csv", "-t", "klass"),
        ("report", "table.csv", "-t", "klass"),
    ],
)
def test_a_wrong_name_is_answered_before_any_library_for_tables_is_loaded(
    command, folder, arguments
):
    table = pl.read_csv(folder / "table.csv")
    table.write_ndjson(folder / "table.jsonl")
    table.write_excel(folder / "table.xlsx")
    libraries = ("numpy", "polars", "pandas", "narwhals", *HEAVY)
    assert _loaded(command, libraries, arguments) == b"[]\n"


def _loaded(command, modules, arguments):
    """Which modules a call with a mistake loads."""
    told = f"print([m for m in {modules} if m in sys.modules])"
    done = command(*arguments, before=f"import atexit\natexit.register(lambda: {told})")
    assert done.returncode == 2
    assert done.stderr.startswith(b"greyfill: ")
    return done.stdout
