"""The layout of the project: which folder may import which, wherever in a file the import stands."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

FOLDERS = {
    "schemas": set[str](),
    "producers": {"schemas"},
    "serving": {"schemas"},
    "topics": {"schemas", "producers", "serving"},
    "streaming": {"schemas"},
    "quality": {"schemas", "producers", "streaming"},
}
"""Which other folders each folder may import. `lineproof/` and `bench/` may import all of them."""

EXCEPTIONS = {"streaming/main.py": {"cli"}}
"""The entry point of spark-submit is a command line."""

INSIDE_LINEPROOF = {
    "lineproof/settings": {"settings", "schemas", "producers"},
    "lineproof/connection.py": {"settings", "producers", "schemas", "local.endpoints"},
}
"""What users import must not load the command line, Spark or the embedded broker."""

WITHOUT = {
    "schemas": {"pyspark", "duckdb", "deltalake"},
    "producers": {"pyspark", "duckdb", "deltalake"},
    "serving": {"pyspark"},
    "topics": {"pyspark"},
}
"""Libraries that a folder never imports, so that commands start fast and the emitter needs few of them."""


def imported_modules(file: Path) -> Iterator[str]:
    """All modules that a file imports: at the top, inside functions, and for type checkers only."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} has a relative import"
            # `from lineproof.topics import tail` imports a module, so the imported names count as part of the path.
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def ours(file: Path) -> set[str]:
    """The lineproof modules that a file imports, without the leading `lineproof.`."""
    modules = (module.partition(".") for module in imported_modules(file))
    return {path or "__init__" for package, _, path in modules if package == "lineproof"}


def libraries(file: Path) -> set[str]:
    return {module.split(".")[0] for module in imported_modules(file)}


def files_in(path: str) -> list[Path]:
    found = [ROOT / path] if path.endswith(".py") else sorted((ROOT / path).rglob("*.py"))
    assert found, path
    return found


def is_within(module: str, allowed: set[str]) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in allowed)


def test_every_import_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text(
        "import lineproof\nfrom lineproof import cli\nfrom lineproof.topics import tail\nimport os.path\n"
        "if TYPE_CHECKING:\n    from lineproof.settings import Settings\n"
        "def late():\n    import lineproof.bench.run\n"
    )
    assert ours(file) == {"__init__", "cli", "topics.tail", "settings.Settings", "bench.run"}
    assert libraries(file) == {"lineproof", "os"}


@pytest.mark.parametrize("folder", FOLDERS)
def test_folders_import_only_what_lies_below_them(folder: str) -> None:
    for file in files_in(folder):
        name = file.relative_to(ROOT).as_posix()
        allowed = {folder, *FOLDERS[folder], *EXCEPTIONS.get(name, set())}
        foreign = {module for module in ours(file) if not is_within(module, allowed)}
        assert not foreign, name


@pytest.mark.parametrize("path", INSIDE_LINEPROOF)
def test_settings_and_connection_import_little(path: str) -> None:
    for file in files_in(path):
        foreign = {module for module in ours(file) if not is_within(module, INSIDE_LINEPROOF[path])}
        assert not foreign, file


def test_only_the_command_line_imports_the_benchmark() -> None:
    for folder in (*FOLDERS, "lineproof"):
        for file in files_in(folder):
            if not file.is_relative_to(ROOT / "lineproof" / "cli"):
                assert not any(is_within(module, {"bench"}) for module in ours(file)), file


@pytest.mark.parametrize("folder", WITHOUT)
def test_folders_do_without_large_libraries(folder: str) -> None:
    for file in files_in(folder):
        assert not libraries(file) & WITHOUT[folder], file


def test_the_emitter_needs_no_spark() -> None:
    """`pip install lineproof` alone must be enough to emit."""
    for folder in ("schemas", "producers"):
        for file in (ROOT / folder).rglob("*.py"):
            assert "pyspark" not in file.read_text(), file


def test_no_python_udf_in_the_job() -> None:
    for file in (ROOT / "streaming").rglob("*.py"):
        assert "udf(" not in file.read_text(), file


def test_reading_loads_no_spark() -> None:
    """In a process of its own: what other modules load on the way counts too."""
    modules = [
        ".".join(("lineproof", *file.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
        for folder in ("schemas", "producers", "serving", "topics")
        for file in files_in(folder)
    ]
    code = f"import sys\nfor name in {modules}: __import__(name)\nprint('pyspark' in sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (loaded.stdout, loaded.stderr) == ("False\n", "")


def test_connecting_loads_neither_spark_nor_the_embedded_broker() -> None:
    code = "import sys, lineproof.connection\nprint([name for name in sys.modules if name in sys.argv[1:]])"
    local = (f"lineproof.local.{name}" for name in ("broker", "jars", "java", "job_runner"))
    unwanted = ["pyspark", "duckdb", "deltalake", *local]
    loaded = subprocess.run([sys.executable, "-c", code, *unwanted], capture_output=True, text=True, check=False)
    assert (loaded.stdout, loaded.stderr) == ("[]\n", "")
