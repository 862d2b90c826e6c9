"""The bundled tables as files."""

from importlib.resources import as_file
from importlib.resources import files as resources
from pathlib import Path

from rich.text import Text

from greyfill import files
from greyfill.cli.choosing import MethodChoice
from greyfill.cli.jobs import ImputeJob
from greyfill.cli.names import did_you_mean
from greyfill.cli.reading import Wishes
from greyfill.cli.showing import grid, tell_written
from greyfill.cli.voice import Console, page, print_json
from greyfill.datasets import load, names
from greyfill.exceptions import FileProblemError, InvalidParameterError
from greyfill.files.atomic import check_name

DEMO = "hepatitis"


def run_demo(folder: str, *, force: bool = False, json: bool = False, quiet: bool = False) -> None:
    """Copy the table, fill it, and write the report; a folder of an older demo is renewed."""
    about, raw = load(DEMO), _content(DEMO)
    check_name(folder)
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileProblemError(f"Cannot make the folder {folder}: {error.strerror}.") from error
    table = target / f"{DEMO}.csv"
    if table.is_file() and table.read_bytes() == raw:
        force = True
    files.put(table, [raw], force=force)
    voice = Console(quiet or json)
    tell_written(voice, str(table), "as it is bundled")
    wishes = Wishes(about.target, about.categorical_features, about.ordinal_features)
    job = ImputeJob(str(table), report=str(target / "report.html"), force=force)
    job.run(wishes, MethodChoice(), json=json, quiet=quiet)
    voice.say(f"Open {target / 'report.html'} in a browser.")


def list_tables(*, json: bool = False) -> None:
    """The tables with their sizes and licences."""
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
    if json:
        print_json(numbers)
        return
    shown = grid("name", "rows", "columns", "holes", "classes")
    shown.add_column("licence")
    for n in numbers:
        counts = (str(n[key]) for key in ("rows", "columns", "holes", "classes"))
        shown.add_row(Text(str(n["name"]), "cyan"), *counts, str(n["licence"]))
    page().print(shown)


def write_table(name: str, out: str, *, force: bool = False) -> None:
    """Write a table to a file, or to stdout, with its holes."""
    if name not in names():
        raise InvalidParameterError(
            f"No bundled table is called {name!r}. {did_you_mean(name, names(), 'There are')}"
        )
    files.check_outputs([files.Output(out)], force=force)
    about = load(name)
    frame = about.X.with_columns(about.y.alias(about.target))
    source = files.Source(name, files.Format.CSV, frame)
    if (resources("greyfill.datasets") / "data" / f"{name}.csv").is_file():
        with as_file(resources("greyfill.datasets") / "data" / f"{name}.csv") as path:
            source = files.read(path, text_columns=about.categorical_features)
    source.write(source.frame, out, force=force)
    tell_written(Console(), out)


def _content(name: str) -> bytes:
    return (resources("greyfill.datasets") / "data" / f"{name}.csv").read_bytes()
