"""The page in a real browser; skipped where there is no Chromium or no Playwright."""

import os
import shutil

import pytest
from report.tables import nasty_page

import greyfill
from greyfill.datasets import load
from greyfill.report import make_report

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")


BOXES = """tag => [...document.querySelectorAll(tag)].map(part => {
    const box = part.getBoundingClientRect();
    return [box.left, box.right, box.height];
})"""


def hepatitis_page():
    table = load("hepatitis")
    imputer = greyfill.CGKNNImputer(5)
    return make_report(imputer, table.X, imputer.fit_transform(table.X, table.y), table.y).render()


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        try:
            started = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        except playwright.Error as error:
            pytest.skip(f"Chromium does not start: {error}")
        yield started
        started.close()


@pytest.fixture(scope="module", params=[hepatitis_page, nasty_page])
def path(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(request.param(), "utf-8")
    return path


@pytest.fixture
def opened(browser, path):
    """Open the page at some width; collects everything that must not happen."""
    context = browser.new_context()
    incidents = []

    def visit(width, scheme="light"):
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        page.on("dialog", lambda d: (incidents.append(("dialog", d.message)), d.dismiss()))
        page.on("console", lambda m: incidents.append((m.type, m.text)))
        page.on("pageerror", lambda e: incidents.append(("error", str(e))))
        page.on("request", lambda r: r.url.startswith(("file:", "data:"))
                or incidents.append(("request", r.url)))  # fmt: skip
        page.goto(path.as_uri())
        return page

    yield visit
    context.close()
    assert incidents == []


@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_sections_fit_the_window(opened, width, scheme):
    page = opened(width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for tag, least in (("section", 20), ("figure svg", 100)):
        boxes = page.evaluate(BOXES, tag)
        assert len(boxes) >= 10
        for left, right, height in boxes:
            assert 0 <= left < right <= width
            assert height >= least


def holes_shown(page):
    cells = page.locator("#columns > .scroll tbody tr td:nth-child(3)").all_inner_texts()
    return [int(text.replace(",", "")) for text in cells]


def test_tables_sort_by_click_and_by_key(opened):
    page = opened(1400)
    before = holes_shown(page)
    holes = page.locator("#columns > .scroll thead th", has_text="Holes")
    holes.locator("button").click()
    assert holes.get_attribute("aria-sort") == "descending"
    assert holes_shown(page) == sorted(before)[::-1]
    holes.locator("button").focus()
    page.keyboard.press("Enter")
    assert holes.get_attribute("aria-sort") == "ascending"
    assert holes_shown(page) == sorted(before)
    assert "Sorted by Holes, ascending" in page.locator("#said").inner_text()
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert holes.get_attribute("aria-sort") == "none"
    sorted_by = page.locator("#columns > .scroll thead th[aria-sort=descending]")
    assert sorted_by.inner_text().startswith("Share")


def test_theme_follows_the_system_and_the_button(opened):
    page = opened(1400, "dark")
    color = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(color)
    page.locator("#theme").click()
    light = page.evaluate(color)
    assert (light, dark) == ("rgb(255, 255, 255)", "rgb(18, 22, 28)")
    page.locator("#theme").click()
    assert page.evaluate(color) == dark
    page.emulate_media(media="print")
    assert page.evaluate(color) == light


def test_paper_shows_folded_tables_but_no_lists_of_donors(opened):
    page = opened(1400)
    was = page.locator("details[open]").count()
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator("main :not(td) > details:not([open])").count() == 0
    assert page.locator("td details[open]").count() == 0
    assert page.locator("td details").count() > 0
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[open]").count() == was


def test_keyboard_reaches_the_report_first(opened):
    page = opened(1400)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the report"
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#main"


def test_no_markup_of_the_table_came_alive(opened):
    page = opened(1400)
    assert page.locator("main img, main script, main b:text-is('bold'), [onerror]").count() == 0


def test_inline_scripts_are_forbidden(browser, path, tmp_path):
    """The policy of the page stops what escaping might let through."""
    broken = tmp_path / "broken.html"
    attack = "<img src='x' onerror='window.ran=1'><script>window.ran=2</script></main>"
    broken.write_text(path.read_text("utf-8").replace("</main>", attack), "utf-8")
    page = browser.new_page()
    page.goto(broken.as_uri())
    assert page.evaluate("window.ran") is None
    page.close()


def test_notebook_frame_works(browser, path, tmp_path):
    from html import escape

    host = tmp_path / "notebook.html"
    inner = escape(path.read_text("utf-8"))
    host.write_text(f'<iframe srcdoc="{inner}" sandbox="allow-scripts"></iframe>', "utf-8")
    page = browser.new_page()
    errors = []
    page.on("pageerror", lambda e: errors.append(str(e)))
    page.goto(host.as_uri())
    frame = page.frame_locator("iframe")
    frame.locator("#columns thead th button").first.wait_for()
    assert errors == []
    page.close()
