"""``greyfill inspect``: what is in a table, and where its holes are."""

from greyfill.cli import options as o


def inspect(
    file: o.File,
    target: o.Target = None,
    categorical: o.Categorical = None,
    numeric: o.Numeric = None,
    ordinal: o.Ordinal = None,
    ignored: o.Ignored = None,
    na_values: o.NaValues = None,
    json: o.Json = False,
    debug: o.Debug = False,
    delimiter: o.Delimiter = None,
    decimal: o.Decimal = None,
    encoding: o.Encoding = None,
) -> None:
    """Show the columns of a table, their holes, and what they tell about the target."""
    from greyfill.cli.examining import examine, show
    from greyfill.cli.jobs import read_sheet
    from greyfill.cli.reading import Wishes
    from greyfill.cli.voice import Console, page, print_json

    wishes = Wishes(
        target, categorical or (), ordinal or (), ignored or (), na_values or (),
        delimiter, decimal, encoding, numeric or (),
    )  # fmt: skip
    voice = Console()
    sheet = read_sheet(file, wishes, voice)
    with voice.working(f"looking at {sheet.name}"):
        numbers = examine(sheet)
    if json:
        print_json(numbers)
    else:
        show(numbers, page())
