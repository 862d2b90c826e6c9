"""The printed numbers of the paper, as data.

Choudhury, A. and Kosorok, M. R., *Missing Data Imputation for Classification Problems* (2020),
arXiv:2002.10709. The RMSE tables of section 4 are called after their data set, since the text and
the captions number them differently.
"""

from dataclasses import dataclass
from typing import Literal

METHODS = {
    "mice": "MICE",
    "missforest": "MissForest",
    "iknn": "IKNN",
    "miknn": "MI-KNN",
    "gknn": "GKNN",
    "fwgknn": "FWGKNN",
    "cgknn": "CGKNN",
}
NO_IMPUTATION = "none"
LABELS = {
    **METHODS,
    NO_IMPUTATION: "No imputation",
    "class_mean": "class mean",
    "mean": "mean",
    "complete": "complete data",
}
TOY_INFORMATION = {"x1": 0.40, "x2": 0.28, "x3": 0.21}

Measure = Literal["rmse", "accuracy"]


@dataclass(frozen=True)
class PrintedTable:
    """One table of the paper: a figure for each method and rate of missing cells.

    ``bold`` names the method that the paper prints in bold at each rate.
    """

    title: str
    scenario: str
    measure: Measure
    figures: dict[float, dict[str, float]]
    bold: dict[float, str]

    @property
    def rates(self) -> tuple[float, ...]:
        """Rates of missing cells, rising."""
        return tuple(self.figures)

    @property
    def short(self) -> str:
        """Name to cite it by.

        >>> [table.short for table in TABLES.values()][3:5]
        ['Table 4', 'RMSE of Iris']
        """
        number, colon, _ = self.title.partition(":")
        return number if colon else f"RMSE of {self.scenario.capitalize()}"

    def best(self, rate: float) -> str:
        """Return the method whose printed figure is best, whatever is bold.

        >>> TABLES["hepatitis"].best(0.10), TABLES["hepatitis"].bold[0.10]
        ('miknn', 'cgknn')
        """
        row = self.figures[rate]
        return (min if self.measure == "rmse" else max)(row, key=row.__getitem__)


def _printed(
    title: str,
    scenario: str,
    rows: dict[float, tuple[float, ...]],
    bold: str = "cgknn cgknn",
    measure: Measure = "rmse",
) -> PrintedTable:
    """Name the figures of each rate: *no imputation* where there are accuracies, then METHODS."""
    methods = METHODS if measure == "rmse" else (NO_IMPUTATION, *METHODS)
    figures = {rate: dict(zip(methods, row, strict=True)) for rate, row in rows.items()}
    bolds = dict(zip(rows, bold.split(), strict=True))
    return PrintedTable(title, scenario, measure, figures, bolds)


TABLES = {
    "table1": _printed(
        "Table 1: RMSE upon convergence for the toy dataset",
        "cubes",
        {
            0.10: (0.2205, 0.1902, 0.1807, 0.1423, 0.1443, 0.1355, 0.1283),
            0.20: (0.2607, 0.2103, 0.2168, 0.1852, 0.1872, 0.1603, 0.1498),
        },
    ),
    "table2": _printed(
        "Table 2: classification accuracy (%) for the toy dataset",
        "cubes",
        {
            0.10: (83.42, 85.24, 86.75, 88.23, 93.71, 92.20, 94.19, 96.92),
            0.20: (76.84, 79.14, 79.10, 80.54, 90.24, 80.20, 92.84, 94.22),
        },
        measure="accuracy",
    ),
    "table3": _printed(
        "Table 3: RMSE upon convergence for the toy MAR dataset",
        "gaussian",
        {
            0.10: (0.1201, 0.1102, 0.0907, 0.0871, 0.0899, 0.0829, 0.0827),
            0.20: (0.1584, 0.1677, 0.1250, 0.1123, 0.1208, 0.1096, 0.1075),
        },
    ),
    "table4": _printed(
        "Table 4: classification accuracy (%) for the MAR dataset",
        "gaussian",
        {
            0.10: (75.13, 79.09, 83.75, 85.48, 88.26, 86.38, 89.01, 90.29),
            0.20: (72.50, 77.32, 80.11, 83.91, 86.37, 84.12, 87.30, 87.31),
        },
        measure="accuracy",
    ),
    "iris": _printed(
        "Comparison of RMSE of the Iris dataset",
        "iris",
        {
            0.05: (0.0729, 0.0619, 0.0588, 0.0503, 0.0534, 0.0506, 0.0509),
            0.10: (0.1205, 0.1302, 0.1107, 0.1025, 0.1038, 0.0995, 0.0950),
            0.20: (0.1427, 0.1420, 0.1241, 0.1146, 0.1246, 0.1106, 0.1001),
        },
        "miknn cgknn cgknn",
    ),
    "voting": _printed(
        "Comparison of RMSE of the Voting dataset",
        "voting",
        {
            0.05: (0.0928, 0.0919, 0.0874, 0.0791, 0.0820, 0.0770, 0.0779),
            0.10: (0.1029, 0.1002, 0.0949, 0.0870, 0.0929, 0.0868, 0.0827),
            0.20: (0.1521, 0.1601, 0.1574, 0.1446, 0.1099, 0.1088, 0.1049),
        },
        "fwgknn cgknn cgknn",
    ),
    "hepatitis": _printed(
        "Comparison of RMSE of the Hepatitis dataset",
        "hepatitis",
        {
            0.05: (0.0913, 0.0890, 0.0785, 0.0711, 0.0792, 0.0739, 0.0714),
            0.10: (0.1029, 0.1002, 0.1107, 0.0870, 0.1038, 0.0994, 0.0921),
            0.20: (0.1967, 0.1858, 0.1592, 0.0839, 0.0980, 0.0898, 0.0823),
        },
        "miknn cgknn cgknn",
    ),
}


def table_of(scenario: str, measure: Measure) -> PrintedTable:
    """Find the table of a setting.

    >>> table_of("cubes", "rmse").figures[0.10]["cgknn"]
    0.1283
    """
    return next(t for t in TABLES.values() if (t.scenario, t.measure) == (scenario, measure))


def repeated_figures() -> dict[tuple[float, float, str], list[str]]:
    """Find RMSE figures that the paper prints for one method and rate in more than one table.

    >>> repeated_figures()[0.1029, 0.10, "mice"]
    ['RMSE of Voting', 'RMSE of Hepatitis']
    """
    places: dict[tuple[float, float, str], list[str]] = {}
    for table in TABLES.values():
        for rate, row in table.figures.items() if table.measure == "rmse" else ():
            for method, figure in row.items():
                places.setdefault((figure, rate, method), []).append(table.short)
    return {key: found for key, found in places.items() if len(found) > 1}


@dataclass(frozen=True)
class Characteristics:
    """One row of Table 5; ``missing`` is in percent."""

    instances: int
    features: int
    classes: int
    feature_type: str
    missing: float


TABLE_5 = {
    "iris": Characteristics(150, 4, 3, "Continuous", 0.0),
    "voting": Characteristics(435, 15, 2, "Categorical", 4.14),
    "hepatitis": Characteristics(155, 19, 2, "Mixed (both)", 5.39),
}
