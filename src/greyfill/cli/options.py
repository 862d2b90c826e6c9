"""What the commands share on the command line.

An option for several values is repeated; names of columns may also have commas between them.
"""

from typing import Annotated

import typer

from greyfill.cli.errors import remember_debug
from greyfill.imputers.registry import FILE_METHODS

COLUMNS, METHOD, OUTPUT, TEXT = "Columns", "Method", "Output", "CSV files"
NO_VALUE = ""
"""What the help shows behind an option that is given or not."""


def complete_method(incomplete: str) -> list[str]:
    """The methods that begin like this."""
    return [name for name in FILE_METHODS if name.startswith(incomplete)]


File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="CSV, TSV, Parquet, Arrow, JSON lines or Excel, also .gz and .zst; - for stdin.",
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target", "-t", metavar="COLUMN", help="The class labels; never imputed.",
        rich_help_panel=COLUMNS,
    ),
]  # fmt: skip
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        "--categorical", "-c", metavar="COLUMNS",
        help="Numbers that are codes of categories.",
        rich_help_panel=COLUMNS,
    ),
]  # fmt: skip
Numeric = Annotated[
    list[str] | None,
    typer.Option(
        "--numeric", metavar="COLUMNS",
        help="Quantities that look like identifiers, such as 007.",
        rich_help_panel=COLUMNS,
    ),
]  # fmt: skip
Ordinal = Annotated[
    list[str] | None,
    typer.Option(
        "--ordinal", metavar="COLUMNS",
        help="Ordered values; COLUMN=low,mid,high gives the order.",
        rich_help_panel=COLUMNS,
    ),
]  # fmt: skip
Ignored = Annotated[
    list[str] | None,
    typer.Option(
        "--ignore", "--id", metavar="COLUMNS",
        help="An identifier, or anything else to leave exactly as it is.",
        rich_help_panel=COLUMNS,
    ),
]  # fmt: skip
NaValues = Annotated[
    list[str] | None,
    typer.Option(
        "--na-values", metavar="WORD",
        help="A word that means missing, such as '?' or -999. Empty cells always do. Repeatable.",
        rich_help_panel=COLUMNS,
    ),
]  # fmt: skip
Method = Annotated[
    str,
    typer.Option(
        "--method", "-m", metavar="NAME", autocompletion=complete_method,
        help="grey, the recommended one, tunes itself and uses labels if there are any; cgknn, "
        "fwgknn, gknn, class_mean need them, miknn to weigh columns; gbnn, iknn, sknn, knni, mice, "
        "missforest, mean do without.",
        rich_help_panel=METHOD,
    ),
]  # fmt: skip
Neighbors = Annotated[
    str,
    typer.Option(
        "--k", "-k", metavar="auto|N", help="How many donors fill a hole.", rich_help_panel=METHOD
    ),
]
Labels = Annotated[
    str | None,
    typer.Option(
        "--labels", metavar="USE",
        help="What labels may do: donors (all), weights (only weigh columns), predictor (one more "
        "column; mice and missforest), none.",
        rich_help_panel=METHOD,
    ),
]  # fmt: skip
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", "-j", metavar="N",
        help="Threads; -1 for all cores. By default all for large tables, one for small ones.",
        rich_help_panel=METHOD,
    ),
]  # fmt: skip
Seed = Annotated[
    int,
    typer.Option(
        "--seed", min=0, metavar="N", help="Seed of all random draws.", rich_help_panel=METHOD
    ),
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output", "-o", metavar="OUT",
        help="Where to write; - for stdout. By default NAME.filled.EXT beside the input.",
        rich_help_panel=OUTPUT,
    ),
]  # fmt: skip
Force = Annotated[
    bool,
    typer.Option(
        "--force", "-f", metavar=NO_VALUE, help="Replace existing files.", rich_help_panel=OUTPUT
    ),
]  # fmt: skip
Json = Annotated[
    bool,
    typer.Option(
        "--json", metavar=NO_VALUE, help="Print the numbers as JSON.", rich_help_panel=OUTPUT
    ),
]  # fmt: skip
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", metavar=NO_VALUE, help="Print nothing but errors.",
        rich_help_panel=OUTPUT,
    ),
]  # fmt: skip
Debug = Annotated[
    bool,
    typer.Option(
        "--debug", metavar=NO_VALUE, callback=remember_debug, is_eager=True,
        help="Show the traceback of an error.", rich_help_panel=OUTPUT,
    ),
]  # fmt: skip
Delimiter = Annotated[
    str | None,
    typer.Option("--delimiter", metavar="CHAR", help="Else found out.", rich_help_panel=TEXT),
]
Decimal = Annotated[
    str | None,
    typer.Option(
        "--decimal", metavar="CHAR", help="Decimal mark; else found out.", rich_help_panel=TEXT
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option("--encoding", metavar="NAME", help="Else found out.", rich_help_panel=TEXT),
]
