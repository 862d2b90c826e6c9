"""What the site needs besides its theme: formulas, a gallery, and no request to elsewhere."""

import html
import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

FORMULA = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\\[(\[](?P<latex>.*?)\\[)\]]</(?P=tag)>', re.DOTALL
)
FOREIGN = re.compile(
    r'<(?:script|img|iframe|link(?=[^>]*rel="?(?:stylesheet|preconnect|preload))[^>]*?)[^>]*?'
    r'(?:src|href)="?(?:https?:)?//[^>]*>'
)


GALLERY = ("hepatitis", "penguins", "votes")


def on_files(files: Any, config: Any) -> Any:
    """Make the reports of the gallery, as whoever fills these tables gets them."""
    import greyfill
    from greyfill.datasets import load

    tables = Path(greyfill.__file__).parent / "datasets" / "data"
    for name in GALLERY:
        kinds = load(name)
        filled = greyfill.fill(
            tables / f"{name}.csv",
            target="class",
            categorical_features=kinds.categorical_features,
            ordinal_features=kinds.ordinal_features or None,
        )
        page = filled.report.render("html")
        files.append(File.generated(config, f"gallery/{name}.html", content=page))
    return files


def on_page_content(text: str, **_: Any) -> str:
    """Turn every formula into MathML, which browsers draw by themselves."""
    return FORMULA.sub(_to_mathml, text)


def on_post_build(config: Any, **_: Any) -> None:
    """Refuse a site that would ask another server for a part of a page."""
    for page in sorted(Path(config.site_dir).rglob("*.html")):
        foreign = FOREIGN.search(page.read_text(encoding="utf-8"))
        if foreign:
            raise PluginError(f"{page.name} asks another server: {foreign.group()}")


def _to_mathml(found: re.Match[str]) -> str:
    shown = "block" if found["tag"] == "div" else "inline"
    return convert(html.unescape(found["latex"]).strip(), display=shown)
