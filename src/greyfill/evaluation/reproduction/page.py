"""The pages of a reproduction: sections of text, tables, figures and verdicts."""

from collections import Counter
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from platform import python_version

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from greyfill import __version__
from greyfill.evaluation.reproduction.claims import claims
from greyfill.evaluation.reproduction.paper import LABELS
from greyfill.evaluation.reproduction.plan import Plan
from greyfill.evaluation.reproduction.plotting import save, style
from greyfill.evaluation.reproduction.results import Results
from greyfill.evaluation.reproduction.sections import Section, sections
from greyfill.evaluation.reproduction.small_grids import settings
from greyfill.evaluation.reproduction.verdicts import Verdict, decide
from greyfill.files import put

IMAGES = "img/reproduction"
LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "polars", "matplotlib")


@dataclass(frozen=True)
class Image:
    """A figure on the page: its file name, what it shows, and its SVG."""

    name: str
    caption: str
    svg: Markup


def write_page(
    results: Results, plan: Plan, folder: Path, command: str
) -> tuple[list[Path], tuple[Verdict, ...]]:
    """Draw the figures, judge the claims, and write the Markdown and the HTML page."""
    parts = sections(results, plan)
    wanted = {name: found for name, found in claims().items() if name in {p.name for p in parts}}
    judged = {
        name: tuple(decide(claim, results) for claim in found) for name, found in wanted.items()
    }
    everything = tuple(verdict for found in judged.values() for verdict in found)
    context = {
        "command": command,
        "plan": plan,
        "sections": parts,
        "verdicts": {
            name: [v for v in found if v.outcome != "not measured"]
            for name, found in judged.items()
        },
        "unmeasured": {
            name: list(dict.fromkeys(v.source for v in found if v.outcome == "not measured"))
            for name, found in judged.items()
        },
        "settings": settings(),
        "tally": Counter(verdict.outcome for verdict in everything),
        "images": {part.name: _draw(part, folder / IMAGES) for part in parts},
        "folder": IMAGES,
        "failures": {LABELS.get(m, m): error for m, error in results.failures().items()},
        "versions": versions(),
    }
    pages = [folder / f"reproduction.{ending}" for ending in ("md", "html")]
    for page in pages:
        put(page, [render(page.name, context).encode()], force=True)
    return pages, everything


def render(name: str, context: dict[str, object]) -> str:
    """Fill a template; text on the HTML page is escaped."""
    environment = Environment(
        loader=PackageLoader("greyfill.evaluation.reproduction"),
        autoescape=select_autoescape(("html.j2",)),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["md"] = escape_markdown
    return environment.get_template(f"{name}.j2").render(context)


def escape_markdown(text: str) -> str:
    r"""Keep text from breaking a Markdown table or becoming HTML.

    >>> print(escape_markdown("a|b <c>"))
    a\|b &lt;c>
    """
    flat = " ".join(str(text).split())
    return flat.replace("|", "\\|").replace("<", "&lt;")


def versions() -> dict[str, str]:
    """Versions of everything that could change a figure."""
    libraries = {name: version(name) for name in LIBRARIES}
    return {"greyfill": __version__, "Python": python_version(), **libraries}


def _draw(section: Section, folder: Path) -> list[Image]:
    found = []
    for name, caption, draw in section.figures:
        with style(name):
            svg = save(draw(), name, folder)
        label = f'<svg role="img" aria-label="{Markup.escape(caption)}" '
        found.append(Image(name, caption, Markup(svg.replace("<svg ", label, 1))))
    return found
