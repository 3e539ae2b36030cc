"""The page's files: everything that they name exists, is in the wheel, and is on this host."""

import hashlib
import json
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]
WEB = ROOT / "serving" / "web"
OURS = sorted(path for path in WEB.rglob("*.js") if "vendor" not in path.parts)
STYLES = sorted((WEB / "style").glob("*.css"))
IMPORT = re.compile(r"""(?:^(?:import|export)\b[^"';]*?\bfrom\s*|\bimport\s*\(?\s*)["']([^"']+)["']""", re.MULTILINE)
SVG = "http://www.w3.org/2000/svg"
"""The name of a language: nothing is asked there."""
ADDRESS = re.compile(r"""["'(`]\s*(?:https?:)?//\w""")


def imports(path: Path) -> Iterator[str]:
    """What a module imports, statically or later."""
    code = re.sub(r"/\*.*?\*/|^\s*//.*$", "", path.read_text(), flags=re.DOTALL | re.MULTILINE)
    yield from IMPORT.findall(code)


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.relative_to(WEB).as_posix())
def test_imports_name_files(path: Path) -> None:
    for name in imports(path):
        assert name.startswith("."), f"{name} is found only with a build step"
        assert (path.parent / name).resolve().is_file(), name


def test_imports_are_seen(tmp_path: Path) -> None:
    module = tmp_path / "module.js"
    module.write_text(
        'import a from "./a.js";\nimport {\n  b,\n} from "./b.js";\nexport { c } from \'./c.js\';\n'
        'import "./d.js";\nconst e = () => import("./e.js");\n// import "./no.js"\n/** @import("./no.js") */\n'
    )
    assert list(imports(module)) == [f"./{name}.js" for name in "abcde"]


def test_every_module_is_used() -> None:
    named = {(path.parent / name).resolve() for path in OURS for name in imports(path)}
    assert {path for path in OURS if path.name not in ("app.js", "early.js")} <= named


@pytest.mark.parametrize("path", [*OURS, *STYLES, WEB / "index.html"], ids=lambda path: path.name)
def test_nothing_is_asked_of_another_host(path: Path) -> None:
    assert not ADDRESS.search(path.read_text().replace(SVG, ""))


@pytest.mark.parametrize("path", [*OURS, WEB / "index.html"], ids=lambda path: path.name)
def test_nothing_is_inline(path: Path) -> None:
    """The policy of the page would refuse it; and nothing makes markup of a text."""
    text = path.read_text()
    code = text if path.suffix == ".html" else re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    assert not re.search(r'\sstyle="|<style|\son[a-z]+="|javascript:', code)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", code)
    assert not re.search(r"<script(?![^>]*\bsrc=)[^>]*>", code)


def test_vendored_files_are_unchanged() -> None:
    rows = re.findall(r"^\| `([^`]+)` \| .* \| `([0-9a-f]{64})` \|$", (WEB / "vendor" / "README.md").read_text(), re.M)
    stated = dict(rows)
    ours = {".md", ".mts"}
    files = {path for path in (WEB / "vendor").rglob("*") if path.is_file() and path.suffix not in ours}
    hashed = {path.relative_to(WEB / "vendor").as_posix() for path in files if path.name != "LICENSE"}
    assert hashed == stated.keys()
    for name, hash_ in stated.items():
        assert hashlib.sha256((WEB / "vendor" / name).read_bytes()).hexdigest() == hash_, name
        assert (WEB / "vendor" / name).parent.joinpath("LICENSE").is_file(), name


def test_the_wheel_has_every_file() -> None:
    (stated,) = re.findall(r'^"lineproof\.serving\.web" = (\[.*\])$', (ROOT / "pyproject.toml").read_text(), re.M)
    patterns = json.loads(stated)
    for path in WEB.rglob("*"):
        name = path.relative_to(WEB).as_posix()
        if path.is_file() and path.suffix not in (".py", ".pyc") and path.name != "tsconfig.json":
            assert any(fnmatch(name, pattern) and name.count("/") == pattern.count("/") for pattern in patterns), name
