"""``greyfill demo`` and ``greyfill datasets``: the bundled tables, to start with."""

from collections.abc import Iterable
from dataclasses import replace
from hashlib import sha256
from importlib.resources import as_file
from importlib.resources import files as resources
from pathlib import Path
from typing import Annotated

import typer

from greyfill.cli import command as o
from greyfill.cli.command import OutputOptions, Without
from greyfill.exceptions import FileProblemError, InvalidParameterError
from greyfill.jobs.options import OUTPUT, MethodChoice, TableOptions, did_you_mean, option

DEMO = "hepatitis"
DATA = resources("greyfill") / "datasets" / "data"


@o.with_options
def demo(
    printing: OutputOptions,
    folder: Annotated[
        str, option(OUTPUT, "DIR", "Where to put the files.", "--output", "-o")
    ] = "greyfill-demo",
) -> None:
    """Fill the bundled hepatitis table, and write a report about it."""
    from greyfill import files
    from greyfill.cli.impute_command import ImputeJob
    from greyfill.datasets import load
    from greyfill.files.atomic import check_name

    about, raw = load(DEMO), (DATA / f"{DEMO}.csv").read_bytes()
    check_name(folder)
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileProblemError(f"Cannot make the folder {folder}: {error.strerror}.") from error
    table, page = target / f"{DEMO}.csv", target / "report.html"
    made, stamp = (table, target / f"{DEMO}.filled.csv", page), target / ".greyfill-demo"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == _digest(made):
        printing = replace(printing, force=True)  # a demo that nobody edited is renewed
    files.put(table, [raw], force=printing.force)
    console = printing.console()
    console.show_written(str(table), "as it is bundled")
    columns = TableOptions(about.target, about.categorical_features, ordinal=about.ordinal_features)
    ImputeJob(str(table), report=str(page)).run(columns, MethodChoice(), printing)
    files.put(stamp, [_digest(made).encode()], force=True)
    console.say(f"Open {page} in a browser.")


def _digest(made: Iterable[Path]) -> str:
    """Tells the files of a demo from edited ones."""
    contents = b"".join(path.read_bytes() if path.is_file() else b"" for path in made)
    return sha256(contents).hexdigest()


@o.with_options
def datasets(
    printing: Annotated[OutputOptions, Without(("quiet",))],
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Print this table as CSV.")
    ] = None,
    output: Annotated[
        str | None, option(OUTPUT, "OUT", "Write it to a file instead.", "--output", "-o")
    ] = None,
) -> None:
    """List the bundled tables, or get one of them."""
    if name is not None:
        write_table(name, "-" if output is None else output, force=printing.force)
    elif output is not None:
        raise typer.BadParameter("name a table to write", param_hint="NAME")
    else:
        list_tables(printing)


def list_tables(printing: OutputOptions) -> None:
    """The tables with their sizes and licences."""
    from greyfill.cli.console import grid, name_of, page
    from greyfill.datasets import load, names

    tables = [load(name) for name in names()]
    numbers = [
        {
            "name": t.name,
            "rows": t.X.height,
            "columns": t.X.width,
            "holes": int(t.X.null_count().sum_horizontal().item()),
            "classes": t.y.n_unique(),
            "target": t.target,
            "licence": t.licence,
            "description": t.description,
            "source": t.source,
        }
        for t in tables
    ]
    printing.print_json(numbers)
    if printing.json:
        return
    shown = grid("name", "rows", "columns", "holes", "classes")
    shown.add_column("licence")
    for n in numbers:
        counts = (str(n[key]) for key in ("rows", "columns", "holes", "classes"))
        shown.add_row(name_of(str(n["name"])), *counts, str(n["licence"]))
    page().show(shown)


def write_table(name: str, out: str, *, force: bool = False) -> None:
    """Write a table to a file, or to stdout, with its holes."""
    from greyfill import files
    from greyfill.cli.console import Console
    from greyfill.datasets import load, names

    if name not in names():
        raise InvalidParameterError(
            f"No bundled table is called {name!r}. {did_you_mean(name, names(), 'There are')}"
        )
    files.check_outputs([files.Output(out)], force=force)
    about, content = load(name), DATA / f"{name}.csv"
    if content.is_file():
        with as_file(content) as path:
            source = files.read(path, text_columns=about.categorical_features)
    else:
        frame = about.X.with_columns(about.y.alias(about.target))
        source = files.Source(name, files.Format.CSV, frame)
    source.write(source.frame, out, force=force)
    Console.on_stderr().show_written(out)
