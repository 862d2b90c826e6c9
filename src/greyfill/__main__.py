"""``python -m greyfill`` is the command ``greyfill``."""

from greyfill.cli import app

if __name__ == "__main__":
    app(prog_name="greyfill")
