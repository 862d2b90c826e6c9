"""What should be left alone: the rule, on tables with and without identifiers."""

import numpy as np
import polars as pl
import pytest

import greyfill as gf
from greyfill import (
    CGKNNImputer,
    FWGKNNImputer,
    GreyImputer,
    IKNNImputer,
    MICEImputer,
    MissForestImputer,
    datasets,
    frames,
    load,
)
from greyfill.exceptions import IdentifierWarning, InvalidParameterError
from greyfill.exclusion import CONSTANT, find_blocks, number_reason, text_reason

RNG = np.random.default_rng(7)


@pytest.mark.parametrize("name", datasets.names())
@pytest.mark.parametrize("told", [True, False])
def test_no_column_of_the_bundled_tables_is_left_alone(name, told):
    table = datasets.load(name)
    kinds = {"categorical_features": table.categorical_features or "auto"} if told else {}
    encoded, origin = frames.encode(table.X, **kinds)
    assert frames.find_excluded(encoded, origin.schema) == {}


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("age", RNG.integers(18, 95, 60)),
        ("weight", np.rint(RNG.normal(3000, 500, 300))),
        ("price", RNG.lognormal(3, 1, 200)),  # fractions that all differ
        ("income", np.rint(RNG.lognormal(11, 1, 500))),  # whole numbers that all differ, far apart
        ("year", np.arange(1960, 2010)),
        ("first", np.arange(1960, 2010)),  # looks like years
        ("rank", np.arange(1, 80)),
        ("visits", RNG.poisson(3, 400)),
        ("few", np.arange(19)),
    ],
)
def test_measurements_are_no_identifiers(name, values):
    assert number_reason(name, np.asarray(values, dtype=float), len(values)) == ""


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("count", np.arange(20)),
        ("count", RNG.permutation(5000)[:400]),
        ("body", RNG.choice(328, 121, replace=False)),
        ("", 10.0 ** np.linspace(0, 12, 25).round(0).cumsum() % 1e9 + np.arange(25) * 1e10),
        ("Unnamed: 0", np.arange(0, 30_000_000, 1_000_001)),
        ("patientID", np.cumsum(RNG.integers(1, 10**6, 50))),
        (
            "Sample code number",
            np.repeat(np.cumsum(RNG.integers(1, 10**6, 50)), [2] * 4 + [1] * 46),
        ),
    ],
)
def test_numbers_that_were_made_to_differ_are_identifiers(name, values):
    assert number_reason(name, np.asarray(values, dtype=float), 2 * len(values)) not in (
        "",
        CONSTANT,
    )


@pytest.mark.parametrize("repeats", [1, 9])
def test_days_written_as_one_number_are_left_alone(repeats):
    days = np.tile([20240229.0, 20231107.0, 19990131.0], repeats)
    assert "dates" in number_reason("admitted", days, 40)
    for other in (days + 0.5, days + 70.0, days * 1.1, np.append(days, 99999999.0), days[:2]):
        assert "dates" not in number_reason("admitted", other, 40)


@pytest.mark.parametrize(
    "name", ["Fallnummer", "PatNr", "Fallnr", "id_patient", "Numéro", "MRN", "identifiant"]
)
def test_identifiers_are_known_by_name_in_some_languages(name):
    far_apart = np.array([7.0 * n * n for n in range(30)])
    assert number_reason(name, far_apart, 40).startswith("an identifier")
    for other in ("idea", "numeric", "Nummernkreis", "acid level", "insulin_no_food"):
        assert number_reason(other, far_apart, 40) == ""


def test_a_repetition_that_chance_would_make_frees_a_column():
    values = np.arange(40.0)
    assert number_reason("n", values, 40)
    assert number_reason("n", np.concatenate([values, values[:30]]), 70) == ""


def test_texts():
    often = {f"w{i}": 2 for i in range(50)}
    assert text_reason(often, 100) == ""
    once = {f"v{i}": 1 for i in range(101)}
    assert text_reason(often | once, 300).startswith("101 of its 201 texts occur once")
    assert text_reason(dict(list(once.items())[:19]), 19) == ""
    assert "none of its 20 texts" in text_reason(dict(list(once.items())[:20]), 90)
    sentences = {"nest never seen with full clutch": 20, "not enough blood for both tests": 9}
    assert text_reason(sentences, 344) == "free text, 6 words on average"
    assert text_reason(sentences, 40) == ""  # most rows have one: levels of a survey
    assert text_reason({"yes": 30}, 31) == CONSTANT
    assert text_reason({"yes": 3}, 19) == ""


def _frame():
    n = 60
    x = RNG.normal(size=n)
    y = [None if i % 7 == 3 else float(v) for i, v in enumerate(2 * x)]
    case = [None if i % 9 == 4 else f"P{i:03}" for i in range(n)]
    return pl.DataFrame({"case": case, "x": x, "y": y})


def test_imputers_fill_identifiers_and_warn_by_name():
    with pytest.warns(IdentifierWarning, match=r"'case' \(an identifier.*leave_alone='auto'"):
        filled = GreyImputer(n_cells=20).fit_transform(_frame())
    assert filled.null_count().sum_horizontal().item() == 0


@pytest.mark.filterwarnings("ignore::greyfill.exceptions.IdentifierWarning")
@pytest.mark.parametrize(
    "imputer",
    [
        GreyImputer(n_cells=20),
        CGKNNImputer(3, labels="none"),
        IKNNImputer(3),
        FWGKNNImputer(3, labels="none"),
        MICEImputer(n_imputations=1, n_iter=2),
        MissForestImputer(n_estimators=3, max_iter=1),
        gf.RegressionImputer(n_iter=1),
        gf.IARIImputer(3),
        gf.C45Imputer(),
        gf.EMImputer(),
        gf.MissPALassoImputer(penalty=0.1, max_iter=2),
        gf.HotDeckImputer(),
        gf.ShellImputer(5),
        gf.FuzzyKMeansImputer(2, fuzziness=1.5),
        gf.GreyFuzzyImputer(max_iter=1),
        gf.OptSVMImputer(max_iter=1),
        gf.OptTreeImputer(max_iter=1),
        gf.MultiTaskMLPImputer(labels="none", max_iter=20),
        gf.LVQImputer(labels="none"),
    ],
    ids=lambda imputer: type(imputer).__name__,
)
def test_identifiers_predict_nothing(imputer, tmp_path):
    """Whatever cases are called in new rows, other columns are filled alike."""
    frame = _frame().with_columns(z=2 * pl.col("x"))
    imputer.fit(frame)
    assert list(imputer.unused_) == ["case"]
    imputer.save(tmp_path / "model")
    assert load(tmp_path / "model").unused_ == imputer.unused_
    new = frame[:9].with_columns(y=pl.lit(None, float), z=pl.lit(None, float))
    for model in (imputer, load(tmp_path / "model")):
        first, second = (
            model.transform(new.with_columns(case=pl.Series(names)))
            for names in ([f"P{i:03}" for i in range(9)], [f"P{i:03}" for i in range(50, 59)])
        )
        if isinstance(imputer, MICEImputer):  # its draws depend on the row, its models do not
            plan = imputer._chains.plan
            inside = set(range(*plan.design.block(0).indices(plan.design.width)))
            assert inside
            assert not any(inside & set(map(int, used)) for used in plan.predictors.values())
        else:
            assert first.drop("case").equals(second.drop("case"))


def test_identifiers_without_a_hole_are_recorded_and_may_be_used():
    cells = [i + 0.3 * (i % 3) if i % 5 else None for i in range(40)]
    frame = pl.DataFrame({"n": range(40), "y": cells})
    imputer = GreyImputer(n_cells=20)
    blind = imputer.fit_transform(frame)
    assert len(set(blind["y"].gather_every(5))) == 1  # nothing is left to tell them apart
    assert list(imputer.unused_) == ["n"]
    used = imputer.set_params(leave_alone=[]).fit_transform(frame)
    assert abs(used["y"][20] - 20) < 2
    assert imputer.unused_ == {}


def test_a_table_of_nothing_else_is_filled_by_what_there_is():
    values = RNG.permuted(np.tile(np.arange(40.0), (3, 1)), axis=1).T
    values[3, 1] = np.nan
    with pytest.warns(IdentifierWarning, match=r"filled 1 column\(s\) .*: 'x1'"):
        imputer = GreyImputer(n_cells=20).fit(values)
    assert imputer.unused_ == {}


def test_reasons_of_your_own():
    imputer = GreyImputer(n_cells=20, leave_alone={"case": "a name"}).fit(_frame())
    assert imputer.left_alone_ == {"case": "a name"}


@pytest.mark.parametrize("imputer", [GreyImputer(n_cells=20), CGKNNImputer(3, labels="none")])
@pytest.mark.parametrize("choice", ["auto", ["case"], [0]])
def test_what_is_left_alone_is_neither_filled_nor_used(imputer, choice, tmp_path):
    frame = _frame()
    imputer = imputer.set_params(leave_alone=choice)
    filled = imputer.fit_transform(frame)
    assert list(imputer.left_alone_) == ["case"]
    assert filled["case"].equals(frame["case"], null_equal=True)
    assert imputer.imputed_counts_ == {"case": 0, "x": 0, "y": 9}
    alone = imputer.set_params(leave_alone=None).fit_transform(frame.drop("case"))
    assert filled.drop("case").equals(alone)
    imputer = imputer.set_params(leave_alone=choice).fit(frame)
    assert list(imputer.get_feature_names_out()) == ["case", "x", "y"]
    assert imputer.schema_.fields[0].levels == ()  # no name of a case is kept, nor saved
    imputer.save(tmp_path / "model")
    new = frame.with_columns(case=pl.int_range(pl.len()))  # whatever it holds in new rows
    again = load(tmp_path / "model")
    assert again.left_alone_ == imputer.left_alone_
    assert again.transform(new).equals(imputer.transform(new))
    assert again.transform(new)["case"].to_list() == list(range(60))
    assert again.transform(new)["y"].null_count() == 0


def test_a_strange_list_is_refused_in_words():
    with pytest.raises(InvalidParameterError, match=r"leave_alone names columns .* 'nobody'"):
        GreyImputer(leave_alone=["nobody"]).fit(_frame())
    with pytest.raises(InvalidParameterError, match="leave_alone must be 'auto' or a list"):
        GreyImputer(leave_alone=3).fit(_frame())


def test_blocks_of_holes():
    missing = np.zeros((100, 5), dtype=bool)
    missing[:20, 1] = missing[:20, 3] = True
    missing[1:20, 4] = True
    missing[:60, 2] = True
    assert find_blocks(missing) == [[1, 3, 4]]
    assert find_blocks(missing[15:]) == []  # five rows may be chance
