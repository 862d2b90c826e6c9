"""What users download: both distributions build, hold what they must, and work where nothing is.

Left out of a plain run, since it builds and installs: ``pytest -m packaging``. The sdist is
installed by ``.ci/run``, which runs the tests on it with the oldest dependencies.
"""

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Iterator
from email.parser import HeaderParser
from pathlib import Path

import pytest

from greyfill import __version__

ROOT = Path(__file__).parents[1]
NAME = f"greyfill-{__version__}"

pytestmark = pytest.mark.packaging


def run(*command: object, cwd: Path) -> str:
    """What a program prints; its errors are the test's error."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both distributions; the wheel is built from the unpacked sdist, as by a packager."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT, cwd=folder)
    return folder


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Iterator[zipfile.ZipFile]:
    with zipfile.ZipFile(dist / f"{NAME}-py3-none-any.whl") as archive:
        yield archive


@pytest.fixture(scope="module")
def clean_python(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that holds the wheel and what it requires, nothing else."""
    home = tmp_path_factory.mktemp("clean")
    venv.create(home, with_pip=True)
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    (wheel,) = dist.glob("*.whl")
    run(python, "-m", "pip", "install", "--quiet", "--no-compile", wheel, cwd=home)
    return python


def test_both_are_fit_for_the_index(dist: Path) -> None:
    files = sorted(dist.iterdir())
    assert [file.name for file in files] == [f"{NAME}-py3-none-any.whl", f"{NAME}.tar.gz"]
    run(sys.executable, "-m", "twine", "check", "--strict", *files, cwd=dist)


def test_the_wheel_holds_every_file_of_the_package_and_no_other(wheel: zipfile.ZipFile) -> None:
    package = (file for file in (ROOT / "src" / "greyfill").rglob("*") if file.is_file())
    expected = {
        file.relative_to(ROOT / "src").as_posix()
        for file in package
        if "__pycache__" not in file.parts
    }
    assert {"greyfill/py.typed", "greyfill/datasets/data/hepatitis.csv"} <= expected
    info = f"{NAME}.dist-info/"
    assert {name for name in wheel.namelist() if not name.startswith(info)} == expected
    assert f"{info}licenses/LICENSE" in wheel.namelist()


def test_the_wheel_describes_itself(wheel: zipfile.ZipFile) -> None:
    metadata = HeaderParser().parsestr(wheel.read(f"{NAME}.dist-info/METADATA").decode())
    assert metadata["Version"] == __version__
    assert metadata["Requires-Python"] == ">=3.11"
    extras = set(metadata.get_all("Provides-Extra", []))
    assert {"dask", "spark", "test", "docs", "dev", "bench"} <= extras
    assert "Typing :: Typed" in metadata.get_all("Classifier", [])


def test_the_sdist_can_be_tested_and_documented(dist: Path) -> None:
    with tarfile.open(dist / f"{NAME}.tar.gz") as archive:
        names = set(archive.getnames())
    wanted = (
        "tests/test_packaging.py",
        "docs/index.md",
        "mkdocs.yml",
        "CITATION.cff",
        "CHANGELOG.md",
    )
    assert {f"{NAME}/{name}" for name in wanted} <= names
    folders = {Path(name).parts[1] for name in names if len(Path(name).parts) > 2}
    assert folders == {".ci", ".github", "benchmarks", "docs", "examples", "src", "tests"}


def test_it_works_in_a_clean_environment(clean_python: Path, tmp_path: Path) -> None:
    version = run(clean_python, "-m", "greyfill", "--version", cwd=tmp_path)
    assert version == f"greyfill {__version__}\n"
    run(clean_python, "-m", "greyfill", "demo", cwd=tmp_path)
    report = (tmp_path / "greyfill-demo" / "report.html").read_text(encoding="utf-8")
    assert "<title>hepatitis.csv: GreyImputer</title>" in report
    run(clean_python.with_name("greyfill"), "--help", cwd=tmp_path)
