import pytest
from app.client import serving

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")


@pytest.fixture(scope="module")
def server():
    with serving(patience=3.0) as running:
        running.sign_in()
        yield running
