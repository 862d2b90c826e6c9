"""``greyfill warmup``: compile ahead what filling and serving need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from greyfill.cli import command as o
from greyfill.cli.command import OutputOptions, Without
from greyfill.text import count, plural

if TYPE_CHECKING:
    from greyfill.imputers.warmup import WarmUp


@o.with_options
def warmup(printing: Annotated[OutputOptions, Without(("force",))]) -> None:
    """Compile what filling and serving need, once, so that no later run has to.

    In an image of a container, or after an installation for all users of a machine. The folder of
    the compiled code can be named in the variable NUMBA_CACHE_DIR.
    """
    console = printing.console()
    with console.working("compiling"):
        from greyfill.imputers.warmup import warm_up

        done = warm_up()
    console.say(in_words(done))
    printing.print_json(vars(done))


def in_words(done: WarmUp) -> str:
    """What was done, in a sentence."""
    compiled = f"{plural(done.n_compiled, 'kernel')} compiled"
    if done.folder is None and done.n_compiled:
        return (
            f"{compiled} in {done.seconds:.1f} s for nothing: no folder for compiled code can be "
            "written. Name one in the variable NUMBA_CACHE_DIR."
        )
    where = "" if done.folder is None else f"; kept below {done.folder}"
    return f"{compiled}, {count(done.n_found)} found compiled, in {done.seconds:.1f} s{where}"
