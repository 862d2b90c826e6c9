"""The printed numbers, checked against the paper a second time, and against themselves."""

import pytest

from greyfill.paper.printed import (
    METHODS,
    NO_IMPUTATION,
    TABLE_5,
    TABLES,
    TOY_INFORMATION,
    repeated_figures,
)


@pytest.mark.parametrize(
    ("table", "rate", "method", "figure"),
    [
        ("table1", 0.10, "mice", 0.2205),
        ("table1", 0.10, "cgknn", 0.1283),
        ("table1", 0.20, "iknn", 0.2168),
        ("table1", 0.20, "cgknn", 0.1498),
        ("table2", 0.10, NO_IMPUTATION, 83.42),
        ("table2", 0.20, "missforest", 79.10),
        ("table2", 0.20, "cgknn", 94.22),
        ("table3", 0.10, "fwgknn", 0.0829),
        ("table3", 0.20, "missforest", 0.1677),
        ("table4", 0.10, "cgknn", 90.29),
        ("table4", 0.20, "fwgknn", 87.30),
        ("iris", 0.05, "miknn", 0.0503),
        ("iris", 0.20, "cgknn", 0.1001),
        ("voting", 0.05, "fwgknn", 0.0770),
        ("voting", 0.20, "missforest", 0.1601),
        ("hepatitis", 0.10, "iknn", 0.1107),
        ("hepatitis", 0.20, "miknn", 0.0839),
    ],
)
def test_printed_figures(table, rate, method, figure):
    assert TABLES[table].figures[rate][method] == figure


def test_every_table_has_all_methods_at_all_rates():
    for table in TABLES.values():
        extra = {NO_IMPUTATION} if table.measure == "accuracy" else set()
        for row in table.figures.values():
            assert set(row) == set(METHODS) | extra
        uci = table.scenario in TABLE_5
        assert table.rates == ((0.05, 0.10, 0.20) if uci else (0.10, 0.20))


def test_bold_is_best_save_for_one_misprint():
    odd = [
        (name, rate)
        for name, table in TABLES.items()
        for rate in table.rates
        if table.best(rate) != table.bold[rate]
    ]
    assert odd == [("hepatitis", 0.10)]


def test_row_of_hepatitis_repeats_figures_of_other_tables():
    twice = repeated_figures()
    shared = {method for (_, _, method), where in twice.items() if "RMSE of Hepatitis" in where}
    assert shared == {"mice", "missforest", "iknn", "miknn", "gknn"}


def test_characteristics_and_information():
    assert (TABLE_5["voting"].features, TABLE_5["voting"].missing) == (15, 4.14)
    assert (TABLE_5["hepatitis"].instances, TABLE_5["hepatitis"].missing) == (155, 5.39)
    assert tuple(TOY_INFORMATION.values()) == (0.40, 0.28, 0.21)
