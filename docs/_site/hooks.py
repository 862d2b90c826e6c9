"""What the site needs besides its theme: formulas without a script, and no request to elsewhere."""

import html
import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.exceptions import PluginError

FORMULA = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\\[(\[](?P<latex>.*?)\\[)\]]</(?P=tag)>', re.DOTALL
)
FOREIGN = re.compile(
    r'<(?:script|img|iframe|link(?=[^>]*rel="?(?:stylesheet|preconnect|preload))[^>]*?)[^>]*?'
    r'(?:src|href)="?(?:https?:)?//[^>]*>'
)


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
