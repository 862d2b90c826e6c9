"""``greyfill sensitivity``: holes that are not missing at random."""

from typing import Annotated

import typer

from greyfill.cli import options as o

Column = Annotated[
    str,
    typer.Option(
        "--column", metavar="COLUMN", help="The column whose imputed cells are shifted.",
        rich_help_panel=o.COLUMNS,
    ),
]  # fmt: skip
Deltas = Annotated[
    str | None,
    typer.Option(
        "--deltas", metavar="NUMBERS", rich_help_panel=o.METHOD,
        help="Shifts, in standard deviations or log odds; write --deltas=-1,1,2.",
    ),
]  # fmt: skip
Level = Annotated[
    str | None,
    typer.Option(
        "--level", metavar="VALUE", rich_help_panel=o.METHOD,
        help="Of a categorical column: the value whose odds are moved. Else the second of two.",
    ),
]  # fmt: skip
Within = Annotated[
    str | None,
    typer.Option(
        "--within", metavar="CLASS", help="Shift only rows of this class.",
        rich_help_panel=o.METHOD,
    ),
]  # fmt: skip
Threshold = Annotated[
    float,
    typer.Option(
        "--threshold", metavar="NUMBER", rich_help_panel=o.METHOD,
        help="The estimate tips when it crosses this.",
    ),
]  # fmt: skip
Classifier = Annotated[
    str,
    typer.Option(
        "--classifier", metavar="NAME", rich_help_panel=o.METHOD,
        help="naive_bayes, logistic_regression, gradient_boosting, or none.",
    ),
]  # fmt: skip
Plot = Annotated[
    str | None,
    typer.Option(
        "--plot", metavar="PICTURE", help="A .png, .svg or .pdf file.", rich_help_panel=o.OUTPUT
    ),
]


def sensitivity(
    file: o.File,
    column: Column,
    target: o.Target = None,
    categorical: o.Categorical = None,
    ordinal: o.Ordinal = None,
    ignored: o.Ignored = None,
    na_values: o.NaValues = None,
    deltas: Deltas = None,
    level: Level = None,
    within: Within = None,
    threshold: Threshold = 0.0,
    classifier: Classifier = "naive_bayes",
    method: o.Method = "cgknn",
    k: o.Neighbors = "auto",
    labels: o.Labels = None,
    jobs: o.Jobs = None,
    seed: o.Seed = 0,
    plot: Plot = None,
    force: o.Force = False,
    json: o.Json = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
    delimiter: o.Delimiter = None,
    decimal: o.Decimal = None,
    encoding: o.Encoding = None,
) -> None:
    """Shift the imputed cells of a column, and see which conclusions tip.

    Imputation assumes that what is missing is like what is observed in similar rows. Here its
    fills are moved away from that, step by step. The estimate is the mean of the column, or the
    share of a level, in the second class minus that in the first; the accuracy is
    cross-validated without the labels of the test rows.
    """
    from greyfill.cli.choosing import MethodChoice
    from greyfill.cli.reading import Wishes
    from greyfill.cli.shifting import Question

    wishes = Wishes(
        target, categorical or (), ordinal or (), ignored or (), na_values or (),
        delimiter, decimal, encoding,
    )  # fmt: skip
    question = Question(column, deltas, level, within, threshold, classifier, plot, force)
    question.run(file, wishes, MethodChoice(method, k, labels, jobs, seed), json=json, quiet=quiet)
