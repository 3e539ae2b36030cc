"""The commands of the README and of two guides, run as they are written."""

import os
import re
import subprocess
import sys
from pathlib import Path

from typer.main import get_command

from lineproof.cli.main import app
from tests.jvm_options import NO_CODEGEN

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
GUIDES = [(ROOT / "docs" / name).read_text() for name in ("tables.md", "configuration.md")]
"""Their commands need what the README's commands leave behind."""


def blocks(language: str, page: str = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def test_every_command_works(tmp_path: Path) -> None:
    defaults = "\n".join(f"{name} {value}" for name, value in NO_CODEGEN.items())
    (tmp_path / "spark-defaults.conf").write_text(defaults)
    environment = {
        **os.environ,
        "SPARK_CONF_DIR": str(tmp_path),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "LINEPROOF_HOME": str(tmp_path / "home"),
    }
    printed: list[str] = []
    try:
        for block in [block for page in (README, *GUIDES) for block in blocks("sh", page)]:
            process = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", block],
                cwd=ROOT,
                env=environment,
                capture_output=True,
                text=True,
                timeout=400,
                check=False,
            )
            printed.append(process.stdout)
            assert process.returncode == 0, f"{block}\n{process.stdout}\n{process.stderr}"
    finally:
        subprocess.run([sys.executable, "-m", "lineproof", "down"], env=environment, check=True)
    demo, queries = printed[0], printed[1]
    assert "Do the row counts agree?" in demo
    assert "unknown_framing,1" in queries


def test_there_are_commands_to_run() -> None:
    assert blocks("sh")[0] == "make demo\n"
    assert blocks("shell")[0] == "make test\n"
    assert all(blocks("sh", page) for page in GUIDES)


def test_the_readme_names_every_command() -> None:
    commands = get_command(app).commands  # type: ignore[attr-defined]
    for name in commands:
        assert f"lineproof {name}" in README or name == "demo"
