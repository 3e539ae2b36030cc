"""The program of the page, with `openlineage-java`."""

import os
from collections.abc import Callable
from pathlib import Path

import pyspark
import pytest

from lineproof.local.java import find_java
from lineproof.serving.sql import Tables
from lineproof.settings import Settings
from tests.end_to_end.server import add_key, server
from tests.end_to_end.tools import RunJob
from tests.integrations.clients import ROOT, URL, assert_all_used, blocks, filled_in, run_client, run_script

pytestmark = pytest.mark.integrations

[PROGRAM] = blocks("java", "A program", "java")


@pytest.fixture(scope="session")
def class_path(tmp_path_factory: pytest.TempPathFactory, say: Callable[[str], None]) -> str:
    """The client with its dependencies and the compiled program."""
    say("Resolving openlineage-java (the first time, it downloads 10 MB to build/ivy) ...")
    home, cache = tmp_path_factory.mktemp("java"), ROOT / "build" / "ivy" / "java"
    [ivy] = (Path(pyspark.__file__).parent / "jars").glob("ivy-*.jar")
    resolve = ("-cache", cache, "-ivy", Path(__file__).with_name("ivy.xml"), "-types", "jar", "bundle")
    run_client([find_java(), "-jar", ivy, *resolve, "-cachepath", home / "jars"], home, os.environ)
    jars = (home / "jars").read_text().strip()
    (home / "Refunds.java").write_text(PROGRAM)
    compiler = "org.eclipse.jdt.internal.compiler.batch.Main"
    run_client([find_java(), "-cp", jars, compiler, "--release", "17", "-cp", jars, "Refunds.java"], home, os.environ)
    return f"{jars}{os.pathsep}{home}"


def assert_lineage(settings: Settings, run_job: RunJob) -> None:
    run_job(settings)
    tables = Tables(settings.tables_path)
    assert_all_used(tables, 2)
    assert tables.query("SELECT DISTINCT defects FROM lineage_events").rows == [(None,)]
    assert tables.query("SELECT job_namespace, job_name, state FROM runs").rows == [("shop", "refunds", "COMPLETED")]
    database = "postgres://db.internal:5432"
    upstream = tables.query("SELECT depth, name FROM lineage_upstream(?, ?)", database, "shop.public.refunds")
    assert upstream.rows == [(1, "shop.public.orders")]


def test_by_url_in_a_file(settings: Settings, run_job: RunJob, tmp_path: Path, class_path: str) -> None:
    configuration, with_key = blocks("java", "By URL", "yaml")
    key = add_key(settings, "team-a")
    with server(settings) as gateway:
        of_test = {URL: gateway.url, "KEY": key}
        (tmp_path / "openlineage.yml").write_text(filled_in(configuration + with_key, of_test))
        run_client([find_java(), "-cp", class_path, "Refunds"], tmp_path, os.environ)
        assert [request["key"] for request in gateway.requests()] == ["team-a"] * 2
    assert_lineage(settings, run_job)


def test_by_url_in_the_environment(settings: Settings, run_job: RunJob, tmp_path: Path, class_path: str) -> None:
    [variables] = blocks("java", "By URL", "sh")
    with server(settings) as gateway:
        run_script(f"{filled_in(variables, {URL: gateway.url})}{find_java()} -cp '{class_path}' Refunds", tmp_path)
    assert_lineage(settings, run_job)
