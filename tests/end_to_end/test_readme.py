"""The README's commands, run as they are written."""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from lineproof.streaming.session import AVRO_LIMITS
from tests.end_to_end.tools import SHORT_LIVED

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def test_every_command_works(tmp_path: Path) -> None:
    defaults = "\n".join(f"{name} {value}" for name, value in SHORT_LIVED.items())
    (tmp_path / "spark-defaults.conf").write_text(defaults)
    environment = {
        **os.environ,
        "SPARK_CONF_DIR": str(tmp_path),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "LINEPROOF_HOME": str(tmp_path / "home"),
    }
    printed: list[str] = []
    try:
        for block in blocks("sh"):
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", block],
                cwd=ROOT,
                env=environment,
                capture_output=True,
                text=True,
                timeout=400,
                check=False,
            )
            printed.append(done.stdout)
            assert done.returncode == 0, f"{block}\n{done.stdout}\n{done.stderr}"
    finally:
        subprocess.run([sys.executable, "-m", "lineproof", "down"], env=environment, check=True)
    demo, queries = printed[0], printed[1]
    assert "Do the books balance?" in demo
    assert "unknown_framing,1" in queries


def test_there_are_commands_to_run() -> None:
    assert blocks("sh")[0] == "make demo\n"
    assert blocks("shell")[0] == "make test\n"


def test_the_cluster_line_names_the_jars_and_limits_we_test_with() -> None:
    [line] = [block for block in blocks("shell") if "spark-submit" in block]
    dependencies = ElementTree.parse(ROOT / "conf" / "ivy.xml").iter("dependency")
    spark = {
        f"{one.get('org')}:{one.get('name')}:{one.get('rev')}"
        for one in dependencies
        if str(one.get("conf")).startswith("spark")
    }
    packages = re.search(r"--packages (\S+)", line)
    assert packages
    assert set(packages[1].split(",")) == spark
    assert AVRO_LIMITS in line


def test_every_command_is_told_of() -> None:
    from lineproof.cli.main import app

    for command in app.registered_commands:
        assert command.callback
        assert f"lineproof {command.callback.__name__}" in README or command.callback.__name__ == "demo"
