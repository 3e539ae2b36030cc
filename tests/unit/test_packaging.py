"""What is installed, and where the version is."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PYPROJECT = (ROOT / "pyproject.toml").read_text()
FOLDERS = ("bench", "conf", "lineproof", "producers", "quality", "schemas", "serving", "streaming", "topics")


def test_every_package_is_installed() -> None:
    [listed] = re.findall(r"^packages = \[(.*?)^\]", PYPROJECT, re.MULTILINE | re.DOTALL)
    inits = [file for folder in FOLDERS for file in (ROOT / folder).rglob("__init__.py")]
    found = {".".join(("lineproof", *file.parent.relative_to(ROOT).parts)) for file in inits}
    assert {*re.findall(r'"([\w.]+)"', listed)} == {name.replace("lineproof.lineproof", "lineproof") for name in found}


def test_every_package_is_in_the_docker_build() -> None:
    assert {f"!{folder}" for folder in FOLDERS} <= {*(ROOT / ".dockerignore").read_text().splitlines()}


def test_the_version_is_in_pyproject_alone() -> None:
    [version] = re.findall(r'^version = "(.+)"$', PYPROJECT, re.MULTILINE)
    files = [file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py")]
    files += [ROOT / name for name in ("Makefile", "Dockerfile", "docker-compose.yml", "README.md")]
    assert not [file for file in files if version in file.read_text()]
