"""How the page is served: its policy, its caching, and what is not served."""

import gzip
import re
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from lineproof.serving.web.files import ROOT, WebFiles
from lineproof.serving.web.routes import web_routes


@pytest.fixture(name="client", scope="module")
def _client() -> TestClient:
    app = FastAPI()
    app.include_router(web_routes())
    return TestClient(app)


def named_in(page: str) -> list[str]:
    return re.findall(r'(?:href|src)="([^"]+)"', page)


def test_the_page_names_files_that_are_there(client: TestClient) -> None:
    page = client.get("/")
    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    names = named_in(page.text)
    assert len(names) > 20
    for name in names:
        assert client.get(f"/{name}").status_code == 200, name


@pytest.mark.parametrize("path", ["/", "/assets/x/app.js", "/assets/x/nothing.js"])
def test_every_answer_has_the_policy(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    policy = headers["content-security-policy"].split("; ")
    assert "default-src 'self'" in policy
    assert "script-src 'self'" in policy
    assert "style-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert not any("unsafe" in part or "http" in part for part in policy)
    assert headers["x-content-type-options"] == "nosniff"


def test_the_page_is_asked_again_and_its_files_are_not(client: TestClient) -> None:
    page = client.get("/")
    assert page.headers["cache-control"] == "no-cache"
    assert client.get("/", headers={"If-None-Match": page.headers["etag"]}).status_code == 304
    file = client.get(f"/{named_in(page.text)[0]}")
    assert "immutable" in file.headers["cache-control"]


def test_another_version_is_never_kept(client: TestClient) -> None:
    assert client.get("/assets/former/app.js").headers["cache-control"] == "no-store"


def test_files_are_sent_compressed(client: TestClient) -> None:
    path = "/assets/x/vendor/uplot/uPlot.iife.min.js"
    plain = client.get(path, headers={"Accept-Encoding": "identity"})
    packed = client.get(path, headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.content == plain.content == (ROOT / "vendor/uplot/uPlot.iife.min.js").read_bytes()
    assert int(packed.headers["content-length"]) < len(plain.content) / 2


@pytest.mark.parametrize(
    "path", ["routes.py", "../routes.py", "%2e%2e/routes.py", "/etc/passwd", "tsconfig.json", "index.html", "app.js%00"]
)
def test_nothing_else_is_served(client: TestClient, path: str) -> None:
    assert client.get(f"/assets/x/{path}").status_code == 404


def test_a_changed_file_is_a_new_version(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text('{styles}{modules}<script src="{assets}/app.js">')
    (tmp_path / "app.js").write_text("1")
    files = WebFiles(tmp_path)
    before = files.index()
    assert files.index().etag == before.etag
    (tmp_path / "app.js").write_text("22")
    assert files.index().etag != before.etag
    found = files.get("app.js")
    assert found is not None
    assert found.content == b"22"
    assert gzip.decompress(found.compressed) == b"22"


def test_the_page_is_small() -> None:
    """What the first view loads, compressed: the rest is loaded by the views that need it."""
    files = WebFiles()
    files.index()
    own = sum(len(file.compressed) for name, file in files.all().items() if not name.startswith("vendor/"))
    vendored = sum(len(file.compressed) for name, file in files.all().items() if name.startswith("vendor/"))
    assert own < 120_000
    assert vendored < 165_000
