"""The walk in a real browser; skipped where there is no Chromium or no Playwright."""

import io
import os
import random
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from app.client import serving
from corpus.exports import EXPORTS
from report.tables import NASTY_NAMES, NASTY_VALUES

import greyfill
from greyfill.datasets import load
from greyfill.report import make_report

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
HEPATITIS = Path(greyfill.__file__).parent / "datasets" / "data" / "hepatitis.csv"
SLOW = 60_000  # milliseconds; only a bound for machines that do much else
AXE = "4.10.3"
WIDE, NARROW = 1400, 390


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        try:
            started = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        except playwright.Error as error:
            pytest.skip(f"Chromium does not start: {error}")
        yield started
        started.close()


@pytest.fixture
def visit(browser, server):
    """Open the page; collects everything that must not happen."""
    contexts, incidents = [], []

    def open_page(width=WIDE, scheme="light", at=server, **more):
        size = {"width": width, "height": 900}
        context = browser.new_context(viewport=size, color_scheme=scheme, **more)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(SLOW)
        page.on("dialog", lambda d: (incidents.append(("dialog", d.message)), d.dismiss()))
        page.on("pageerror", lambda e: incidents.append(("error", str(e))))
        page.on("console", lambda m: "422" in m.text or incidents.append((m.type, m.text)))
        page.on("request", lambda r: r.url.startswith((f"http://{at.host}/", "blob:"))
                or incidents.append(("request", r.url)))  # fmt: skip
        if at.cookie is None:
            page.goto(at.address)  # works once
        else:
            name, value = at.cookie.split("=")
            context.add_cookies([{"name": name, "value": value, "url": f"http://{at.host}/"}])
            page.goto(f"http://{at.host}/")
        return page

    yield open_page
    for context in contexts:
        context.close()
    for table in server.json("GET", "/api/state")[1]["tables"]:  # eight may be open at once
        server.json("DELETE", f"/api/tables/{table['id']}")
    assert incidents == []


def drop(page, name, raw):
    """Choose a file."""
    page.locator(".brand").click()
    page.locator("#file").set_input_files({"name": name, "mimeType": "text/plain", "buffer": raw})


def fits(page, width):
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def saved(page, button):
    with page.expect_download(timeout=SLOW) as waiting:
        page.locator(button).click()
    return waiting.value.suggested_filename, Path(waiting.value.path()).read_bytes()


def test_hepatitis_from_the_command_to_a_filled_file_in_four_clicks(visit):
    with serving(str(HEPATITIS)) as own:
        page = visit(at=own)
        clicks = 2  # to open the list of columns, and to choose one of them
        page.locator("#target").select_option(label="class")
        page.get_by_text("Classes: live 123, die 32").wait_for()
        page.locator("#fill").click()
        name, raw = saved(page, "#download")
        assert clicks + 2 <= 4
        assert name == "hepatitis.filled.csv"
        was = HEPATITIS.read_bytes().replace(b"\r", b"").split(b"\n")
        assert len(raw.replace(b"\r", b"").split(b"\n")) == len(was)
        assert b",," not in raw
        fits(page, WIDE)
        page.locator("td.filled button").first.click()
        page.get_by_text("Donors: the rows most like it").wait_for()
        page.keyboard.press("Escape")
        page.locator("#tab-trust").click()
        page.locator("#overimputed svg").first.wait_for()
        for part in ("#trust", "#classes", "#patterns", "#values", "#relevance"):
            assert page.locator(part).count() == 1
        fits(page, WIDE)
        page.locator("#tab-worth").click()
        page.get_by_role("button", name="Find out").wait_for()
        assert page.get_by_role("button", name="Stop").count() == 0  # nothing runs that could be
        page.locator("#tab-take").click()
        assert page.get_by_text("greyfill impute hepatitis.csv --target=class").is_visible()
        assert page.get_by_text("greyfill.fill('hepatitis.csv', target='class')").is_visible()
        for what in ("excel", "mask", "report"):
            assert len(saved(page, f"[data-file={what}]")[1]) > 1000
        page.reload()
        page.locator("#download").wait_for()  # what was filled is still there
        page.locator("#close").click()
        page.get_by_text("The server has ended").wait_for()
        assert own.process.wait(20) == 0


def test_paper_is_white_and_holds_all_columns(visit):
    page = visit(scheme="dark")
    drop(page, "hepatitis.csv", HEPATITIS.read_bytes())
    cell = "getComputedStyle(document.querySelector('.grid td.hole')).backgroundColor"
    page.locator(".grid td.hole").first.wait_for()
    dark = page.evaluate(cell)
    page.emulate_media(media="print", color_scheme="dark")
    page.set_viewport_size({"width": 703, "height": 1000})  # an A4 sheet within its margins
    assert (page.evaluate(cell), dark) == ("rgb(35, 45, 58)", "rgb(0, 0, 0)")
    assert page.evaluate("document.body.scrollWidth") <= 703


def test_a_messy_export_and_its_guesses(visit):
    export = next(e for e in EXPORTS if "missing" in e.guesses and e.name.endswith(".csv"))
    page = visit(NARROW, "dark")
    drop(page, export.name, export.make())
    switch = page.locator("[id^=guess-]")
    switch.first.wait_for()
    holes = page.locator(".lead strong").inner_text()
    switch.first.uncheck()
    page.locator("main:not([aria-busy])").wait_for()
    assert page.locator(".lead strong").inner_text() != holes
    assert "--categorical=" in page.locator(".line-of-code code").inner_text()
    page.locator("[id^=guess-]:not(:checked)").check()
    page.locator("main:not([aria-busy])").wait_for()
    assert page.locator("[id^=guess-]:not(:checked)").count() == 0
    assert page.locator(".lead strong").inner_text() == holes
    assert page.locator(".line-of-code code").inner_text() == f"greyfill impute {export.name}"
    fits(page, NARROW)
    page.locator("#fill").click()
    page.locator("#download").wait_for()
    fits(page, NARROW)


def answer(page, question, label=None):
    """Turn a switch over, or choose an answer; wait until the page is drawn anew."""
    item = page.locator(".switches li", has_text=question)
    if label is None:
        item.locator("input").click()
    else:
        item.locator("select").select_option(label=label)
    page.locator("main:not([aria-busy])").wait_for()


SWITCHED = [
    ("kidney.csv", "dm: levels that differ", None, "--fold=dm"),
    ("kidney.csv", "The first line has the names", None, "--no-header"),
    ("kidney.csv", "Between the cells", "semicolons", "'--delimiter=;'"),
    ("book.xlsx", "The sheet of the workbook", "Data", ""),
    ("weather.csv", "temp: -999", None, "--numeric=temp"),
    ("twice.csv", "Names that appear twice", None, "--ignore="),
    ("block.csv", "together", "these cells stay empty", "--not-applicable="),
    ("codes.csv", "two different whole numbers", None, "--categorical="),
    ("ambiguous.csv", "day first", "dates, month first", "--date-order=mdy"),
]


@pytest.mark.parametrize(("name", "question", "label", "option"), SWITCHED)
def test_a_guess_is_switched_and_the_command_says_so(visit, name, question, label, option):
    export = next(e for e in EXPORTS if e.name == name)
    page = visit()
    drop(page, export.name, export.make())
    page.locator("#fill").wait_for()
    if page.locator("#reading").count():
        page.locator("#reading summary").click()
    answer(page, question, label)
    line = page.locator(".line-of-code code", has_text=option)
    line.wait_for()
    assert line.inner_text().startswith("greyfill impute")


def test_plots_tell_their_values_to_pointer_and_keyboard(visit):
    page = visit()
    page.locator(".brand").click()
    page.get_by_role("button", name="Open penguins").wait_for()
    start = page.locator("main").inner_text()
    assert "members of the U.S. House of Representatives" in start
    assert "null" not in start
    page.get_by_role("button", name="Open penguins").click()
    page.locator("#fill").click()
    page.locator("#tab-trust").click()
    plot = page.locator("#overimputed svg:has(circle.tip)").first
    plot.wait_for()
    assert page.locator("#dependence").get_by_text("Where the holes are").is_visible()
    assert page.locator("#patterns table.upset").is_visible()
    told = page.locator(".told-here")
    plot.locator("circle.tip").first.hover(force=True)
    assert "true" in told.inner_text()
    name = plot.locator("xpath=ancestor::figure").get_attribute("data-column")
    assert page.locator(f'#trust tr.same[data-column="{name}"]').count() == 1
    plot.focus()
    page.keyboard.press("ArrowRight")
    first = told.inner_text()
    page.keyboard.press("ArrowRight")
    assert told.inner_text() != first
    assert page.locator("#said").inner_text() == told.inner_text()
    for _ in range(3):
        page.keyboard.press("Shift+ArrowRight")
    assert "cells; limits hold" in told.inner_text()
    box = plot.bounding_box()
    page.mouse.move(box["x"] + 1, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 1, box["y"] + 40)
    page.mouse.up()
    n = plot.locator("circle.tip").count()
    assert told.inner_text().startswith(f"{n} of {n} cells")
    page.keyboard.press("Escape")
    assert told.is_hidden()


def adversarial():
    """200 columns: markup, scripts and right-to-left text in names and values."""
    rng = random.Random(0)
    odd = [*NASTY_NAMES, "שלום עולם", "مرحبا", "<script>alert(1)</script>", "' onerror='alert(1)"]
    names = [f"{n} {odd[n % len(odd)]}" for n in range(200)]
    values = [*NASTY_VALUES[:4], "<img src=x onerror=alert(1)>"]
    rows = [[rng.choice(values) if j % 20 == 0 else str(rng.randint(0, 9)) for j in range(200)]
            for _ in range(60)]  # fmt: skip
    for n in range(40):
        rows[n][3 * n % 100] = ""

    def quoted(cell):
        return '"' + str(cell).replace('"', '""').replace("\x00", "") + '"'

    lines = [",".join(map(quoted, row)) for row in [names, *rows]]
    return "\n".join(lines).encode("utf-8", "replace")


@pytest.mark.parametrize(("width", "scheme"), [(WIDE, "dark"), (NARROW, "light")])
def test_an_adversarial_table_stays_a_table(visit, width, scheme):
    page = visit(width, scheme)
    drop(page, "<b>odd</b>.csv", adversarial())
    page.locator("#fill").wait_for()
    assert page.locator("tbody tr:has(th[scope=row])").count() >= 200
    assert page.locator("main img, main script, main b:text-is('bold'), [onerror]").count() == 0
    fits(page, width)
    page.locator("#method").select_option("mean")
    page.locator("main:not([aria-busy])").wait_for()
    page.locator("#fill").click()
    page.locator("#download").wait_for()
    page.locator("td.filled button").first.click()
    page.locator("dialog .value").wait_for()
    page.keyboard.press("Escape")
    page.locator("#tab-trust").click()
    page.locator("#patterns").wait_for()
    assert page.locator("main img, main script, [onerror]").count() == 0
    fits(page, width)
    page.locator("#tab-take").click()
    fits(page, width)


def test_the_keyboard_is_enough(visit):
    page = visit()
    page.locator(".drop").wait_for()

    def to(wanted, most=400):
        for _ in range(most):
            if page.evaluate("wanted => document.activeElement.matches(wanted)", wanted):
                return
            page.keyboard.press("Tab")
        raise AssertionError(f"the keyboard does not reach {wanted}")

    to("#file")
    to("section:last-of-type .cards li:last-child button")  # a bundled table
    page.keyboard.press("Enter")
    page.locator("#fill").wait_for()
    to(".columns thead th button")
    page.keyboard.press("Enter")
    assert page.locator(".columns th[aria-sort=ascending]").count() == 1
    to("#fill")
    page.keyboard.press("Enter")
    page.locator("#download").wait_for()
    page.locator("td.filled button").first.wait_for()
    to("td.filled button")
    page.keyboard.press("Enter")
    page.locator("dialog .value").wait_for()
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.matches('td.filled button')")
    to("#tab-rows")
    page.keyboard.press("ArrowRight")
    page.locator("#trust").wait_for()
    to("#download")
    with page.expect_download() as waiting:
        page.keyboard.press("Enter")
    assert waiting.value.suggested_filename == "penguins.filled.csv"


def test_a_wrong_file_gives_a_sentence(visit):
    page = visit()
    drop(page, "photo.png", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8)
    told = page.locator(".message")
    told.wait_for()
    assert "photo.png" in told.inner_text()
    assert told.inner_text().endswith(".")
    page.get_by_text("Choose another table").click()
    page.locator(".drop").wait_for()


def test_columns_without_a_value_are_not_promised_to_be_filled(visit):
    page = visit()
    drop(page, "table.csv", b"a,b,remark\n1,2,\n,3,\n3,4,\n4,6,\n")
    page.locator("#fill").wait_for()
    assert page.get_by_text("1 hole in 1 column will be filled.").is_visible()


def test_large_numbers_are_shown_in_full(visit):
    page = visit()
    rows = "".join(f"{20230000 + n * 7},{n % 3 or ''}\n" for n in range(40))
    drop(page, "table.csv", f"case,a\n{rows}".encode())
    page.locator("#fill").wait_for()
    assert "20230000 … 20230137 … 20230273" in page.locator(".columns").inner_text()


def test_cancel_goes_back_to_the_table(visit):
    page = visit(NARROW)
    rows = (f"{n % 97},{n * n % 89},{n * 7 % 83}" if n % 3 else f",{n},"
            for n in range(60_000))  # fmt: skip
    drop(page, "large.csv", "\n".join(["a,b,c", *rows]).encode())
    page.locator("#fill").click()
    page.locator("#cancel").click()
    page.get_by_text("Cancelled. Nothing was filled.").wait_for()
    page.locator("#fill").wait_for()
    page.locator("#rows td.hole").first.wait_for()


@pytest.fixture(scope="session")
def axe(tmp_path_factory):
    """The script of axe-core, from the npm registry."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("no npm on this machine")
    folder = tmp_path_factory.mktemp("axe")
    words = [npm, "pack", "--silent", f"axe-core@{AXE}"]
    done = subprocess.run(words, cwd=folder, capture_output=True, check=False, timeout=120)
    if done.returncode:
        pytest.skip("axe-core cannot be had from the npm registry")
    raw = next(folder.glob("*.tgz")).read_bytes()
    with tarfile.open(fileobj=io.BytesIO(raw)) as bundle:
        return bundle.extractfile("package/axe.min.js").read().decode()


RULES = "axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']})"


def violations(page, axe):
    page.evaluate(axe)
    found = page.evaluate(RULES)["violations"]
    return [(v["id"], [node["html"][:200] for node in v["nodes"][:3]]) for v in found]


@pytest.mark.parametrize(("width", "scheme"), [(WIDE, "light"), (NARROW, "dark")])
def test_the_page_is_accessible(visit, axe, width, scheme):
    page = visit(width, scheme, bypass_csp=True)
    page.locator(".brand").click()
    page.locator(".drop").wait_for()
    assert violations(page, axe) == []
    page.get_by_role("button", name="Open penguins").click()
    page.locator("#rows td.hole").first.wait_for()
    assert violations(page, axe) == []
    page.locator("#fill").click()
    page.locator("td.filled button").first.click()
    page.locator("dialog .value").wait_for()
    assert violations(page, axe) == []
    page.keyboard.press("Escape")
    page.locator("#tab-trust").click()
    page.locator("#overimputed svg").first.wait_for()
    assert violations(page, axe) == []
    page.locator("#tab-take").click()
    assert violations(page, axe) == []


@pytest.mark.parametrize(("width", "scheme"), [(WIDE, "dark"), (NARROW, "light")])
def test_the_report_is_accessible(browser, axe, tmp_path, width, scheme):
    table, imputer = load("penguins"), greyfill.CGKNNImputer(5)
    filled = imputer.fit_transform(table.X, table.y)
    path = make_report(imputer, table.X, filled, table.y).save(tmp_path / "page.html")
    size = {"width": width, "height": 900}
    context = browser.new_context(viewport=size, color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    page.goto(path.as_uri())
    assert violations(page, axe) == []
    context.close()
