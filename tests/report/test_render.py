"""Pages, Markdown and JSON: complete, bounded, and nothing of the table is ever code."""

import base64
import copy
import errno
import hashlib
import json
import os
import re
from html.parser import HTMLParser

import matplotlib
import numpy as np
import pandas as pd
import pytest
from report.tables import NASTY_NAMES, NASTY_VALUES, nasty_report, tiny

import greyfill
from greyfill.exceptions import InvalidParameterError
from greyfill.report import Report, make_report, render
from greyfill.text import clean, shorten

VOID = {"meta", "br", "img", "input", "link", "hr"}


class Page(HTMLParser):
    """All elements, attributes and texts of a page; refuses elements that do not close."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.texts, self.ids, self.open = [], [], [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture(scope="module", params=[False, True], ids=["recipe", "tuned"])
def nasty(request):
    return nasty_report(is_tuned=request.param)


@pytest.fixture(scope="module")
def text(nasty):
    return nasty.render("html")


@pytest.fixture(scope="module")
def page(text):
    return Page(text)


def test_only_elements_of_the_template(page):
    assert page.tags.count("script") == 2
    assert not {"img", "iframe", "object", "link", "b:bold"} & set(page.tags)


def test_no_event_handlers_and_no_addresses(page):
    assert not [a for a in page.attributes if a[1].startswith("on")]
    links = [value for _, name, value in page.attributes if name in ("href", "src", "action")]
    assert links
    assert all(link.startswith(("#", "data:image/png;base64,")) for link in links)
    assert not [v for _, n, v in page.attributes if n == "style" and "url(" in v and "#" not in v]


def test_ids_are_unique_and_links_lead_somewhere(page):
    assert len(page.ids) == len(set(page.ids))
    wanted = {v[1:] for _, n, v in page.attributes if n == "href" and v.startswith("#")}
    styles = " ".join(v for _, n, v in page.attributes if n in ("clip-path", "style"))
    wanted |= set(re.findall(r"url\(#([^)]+)\)", styles))
    assert wanted <= set(page.ids)


@pytest.mark.parametrize("name", NASTY_NAMES)
def test_every_name_is_shown_as_it_is(page, name):
    assert shorten(clean(name), 60) in page.texts  # in a table
    assert shorten(clean(name), 22) in page.texts  # in a plot: neither mathematics nor markup


@pytest.mark.parametrize("value", NASTY_VALUES)
def test_every_value_is_text(page, value):
    assert any(shorten(clean(value, 60), 16) in text for text in page.texts)


def test_templates_in_names_are_not_run(page):
    assert not any("7006652" in text for text in page.texts)


def test_only_the_known_script_may_run(text):
    script = text.rsplit("<script>", 1)[1].split("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text).group(1)
    assert f"script-src 'sha256-{digest}'" in policy.replace("&#39;", "'")
    assert policy.startswith("default-src 'none'")


def test_embedded_numbers_can_be_read_again(nasty, text):
    inner = text.split('<script type="application/json" id="numbers">')[1].split("</script>")[0]
    numbers = json.loads(inner)
    assert numbers["columns"] == json.loads(json.dumps(nasty.summary["columns"]))
    assert not set("<>&") & set(inner)


def test_json_is_valid_and_renders_the_same(nasty):
    assert json.loads(nasty.render("json")) == nasty.summary
    report = make_report(*tiny())
    assert render(json.loads(report.render("json")), "html") == report.render("html")


def test_columns_without_weight_come_last_however_much_they_tell():
    summary = copy.deepcopy(make_report(*tiny()).summary)
    names = [column["name"] for column in summary["relevance"]["columns"]]
    for column in summary["relevance"]["columns"]:
        column.update(weight=0.1, bits=0.2)
    summary["relevance"]["columns"][0].update(weight=0.0, bits=9.0)
    told = render(summary, "markdown").partition("## What each column tells")[2]
    rows = [line.split(" | ")[0].strip("| ") for line in told.split("\n\n")[1].splitlines()[2:]]
    assert rows == [*names[1:], names[0]]


def test_markdown_tables_keep_their_shape(nasty):
    text = nasty.render("markdown")
    blocks = [b.split("\n") for b in text.split("\n\n") if b.startswith("|")]
    assert len(blocks) > 5
    for lines in blocks:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) == 1
    assert "<" not in text
    assert "[e](" not in text


def test_every_format_can_be_written(nasty, text):
    for written in (text, nasty.render("markdown"), nasty.render("json")):
        written.encode("utf-8")


def test_users_matplotlib_style_does_not_leak_in_and_ours_not_out():
    report = make_report(*tiny())
    plain = report.render("html")
    with matplotlib.rc_context({"text.color": "red", "axes.edgecolor": "red", "font.size": 30}):
        before = dict(matplotlib.rcParams)
        assert report.render("html") == plain
        assert dict(matplotlib.rcParams) == before


def test_colors_come_from_the_page(page):
    colors = [v for _, name, v in page.attributes if name in ("fill", "stroke", "color")]
    assert "var(--observed)" in colors
    assert "#000000" not in colors


def test_no_element_has_a_style_of_its_own(page):
    """So the policy can forbid them, and the local page can show the same pieces."""
    assert [(tag, v) for tag, name, v in page.attributes if name == "style"] == []


def test_table_without_holes_has_a_page():
    X = np.arange(12.0).reshape(6, 2)
    imputer = greyfill.KNNIImputer(2)
    page = make_report(imputer, X, imputer.fit_transform(X)).render()
    assert "The table has no holes." in page
    Page(page)


@pytest.mark.parametrize(
    ("imputer", "words"),
    [
        (greyfill.MICEImputer(1, n_iter=2), "in standard deviations from the last pass"),
        (greyfill.MissForestImputer(2, max_iter=2), "of numbers and of categories"),
    ],
)
def test_captions_say_what_passes_of_chains_measure(imputer, words):
    X = pd.DataFrame({"n": [1.0, None, 3.0, 4.0], "c": ["u", "v", None, "u"]})
    captions = "".join(Page(make_report(imputer, X, imputer.fit_transform(X)).render("html")).texts)
    assert words in captions


@pytest.mark.parametrize("rows", [1, 3])
def test_smallest_tables_have_a_page(rows):
    X = np.full((rows, 1), np.nan)
    X[0] = 1.0
    imputer = greyfill.KNNIImputer(1)
    Page(make_report(imputer, X, imputer.fit_transform(X), raw_rows=9).render())


@pytest.mark.heavy
def test_page_of_many_rows_and_columns_is_small():
    rng = np.random.default_rng(0)
    few = rng.normal(size=(1_000, 20))
    few[rng.random(few.shape) < 0.1] = np.nan
    classes = np.array([f"{'c' * 100}{i}" for i in range(12)])
    imputer = greyfill.GKNNImputer(3, max_iter=2)
    labels = rng.choice(classes, 1_000)
    filled = imputer.fit_transform(few, labels)
    rows = rng.integers(0, 1_000, 100_000)
    report = make_report(imputer, few[rows], filled[rows], labels[rows])
    assert len(report.render().encode()) < 1_000_000
    assert any("100,000 rows together in 120 bins" in said for said in report.summary["limits"])


@pytest.mark.heavy
def test_page_of_too_many_columns_with_long_names_is_small():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({f"{j} {'<' * 400}": rng.choice(["<" * 90, ">" * 90], 60) for j in range(260)})
    X = X.mask(rng.random(X.shape) < 0.2)
    imputer = greyfill.KNNIImputer(3)
    y = rng.choice([f"{'&' * 90}{i}" for i in range(8)], 60)
    report = make_report(imputer, X, imputer.fit_transform(X), y)
    assert len(report.summary["columns"]) == 200
    assert len(report.render().encode()) < 2_000_000


def test_save_by_the_ending(tmp_path):
    report = make_report(*tiny())
    assert report.save(tmp_path / "page.html").read_text("utf-8").startswith("<!DOCTYPE html>")
    assert json.loads(report.save(tmp_path / "page.json").read_text("utf-8")) == report.summary
    assert report.save(tmp_path / "page", format="markdown").read_text("utf-8").startswith("# ")
    with pytest.raises(InvalidParameterError, match=r"page\.pdf"):
        report.save(tmp_path / "page.pdf")
    with pytest.raises(InvalidParameterError, match="format must be one of"):
        report.render("pdf")


def test_failed_write_leaves_the_old_file_and_no_debris(tmp_path, monkeypatch):
    path = tmp_path / "page.json"
    path.write_text("old")

    def fail(*_, **__):
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk is full"):
        make_report(*tiny()).save(path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["page.json"]


def test_saving_through_a_link_keeps_the_link(tmp_path):
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to("real.json")
    make_report(*tiny()).save(tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_text() != "old"


def test_notebook_shows_the_page_in_a_frame():
    report = make_report(*tiny())
    frame = Page(report._repr_html_())
    assert frame.tags == ["iframe"]
    inner = next(value for _, name, value in frame.attributes if name == "srcdoc")
    assert inner == report.render("html")
    assert ("iframe", "sandbox", "allow-scripts") in frame.attributes


def test_repr_tells_the_size():
    assert repr(make_report(*tiny())) == "<Report of KNNIImputer: 2 holes in 4 × 2 cells>"
    assert isinstance(make_report(*tiny()), Report)
