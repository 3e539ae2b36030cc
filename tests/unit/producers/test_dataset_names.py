"""Dataset names follow the OpenLineage conventions and contain no secrets."""

from collections.abc import Callable
from pathlib import Path

import pytest

from lineproof.producers import dataset_names
from lineproof.producers.dataset_names import DatasetName
from lineproof.producers.naming import InvalidName


@pytest.mark.parametrize(
    ("name", "namespace", "text"),
    [
        (dataset_names.postgres("db", 5432, "crm", "public", "Donors"), "postgres://db:5432", "crm.public.Donors"),
        (dataset_names.postgres("[::1]", 5432, "crm", "public", "x"), "postgres://[::1]:5432", "crm.public.x"),
        (dataset_names.mssql("db", 1433, "crm", "dbo", "donors"), "mssql://db:1433", "crm.dbo.donors"),
        (dataset_names.mysql("db", 3306, "crm", "donors"), "mysql://db:3306", "crm.donors"),
        (dataset_names.hive("metastore", 9083, "crm", "donors"), "hive://metastore:9083", "crm.donors"),
        (dataset_names.snowflake("org", "acct", "CRM", "PUBLIC", "D"), "snowflake://org-acct", "CRM.PUBLIC.D"),
        (dataset_names.bigquery("impact", "crm", "donors"), "bigquery", "impact.crm.donors"),
        (
            dataset_names.redshift("dw", "eu-west-1", 5439, "crm", "public", "donors"),
            "redshift://dw.eu-west-1:5439",
            "crm.public.donors",
        ),
        (
            dataset_names.glue("eu-west-1", "123456789012", "crm", "d"),
            "arn:aws:glue:eu-west-1:123456789012",
            "table/crm/d",
        ),
        (dataset_names.s3("lake", "/crm/Donors/"), "s3://lake", "crm/Donors"),
        (dataset_names.gs("lake", "crm/donors"), "gs://lake", "crm/donors"),
        (dataset_names.abfss("raw", "lake", "/crm/donors/"), "abfss://raw@lake.dfs.core.windows.net", "/crm/donors"),
        (dataset_names.hdfs("namenode", 8020, "/crm/donors"), "hdfs://namenode:8020", "/crm/donors"),
        (dataset_names.kafka("broker", 9092, "donations"), "kafka://broker:9092", "donations"),
        (dataset_names.file("/data//donors.parquet/"), "file", "/data/donors.parquet"),
        (dataset_names.file(Path("/data/donors.parquet")), "file", "/data/donors.parquet"),
        (dataset_names.sqlite("/data/crm.db", "donors"), "file", "/data/crm.db#donors"),
        (dataset_names.http_api("benevity.api", "/volunteer_hours"), "benevity.api", "volunteer_hours"),
        (dataset_names.llm_model("anthropic", "claude-sonnet-4-5"), "anthropic", "claude-sonnet-4-5"),
    ],
)
def test_dataset_names_follow_the_openlineage_conventions(name: DatasetName, namespace: str, text: str) -> None:
    assert name == DatasetName(namespace, text)


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: dataset_names.postgres("", 5432, "crm", "public", "donors"), "The host is empty"),
        (lambda: dataset_names.postgres("db", 5432, "crm", "", "donors"), "The schema is empty"),
        (
            lambda: dataset_names.postgres("db", 5432, "crm", "public", " donors"),
            "The table begins or ends with whitespace",
        ),
        (lambda: dataset_names.postgres("db", 5432, "crm", "public", "do\tnors"), r"The table contains '\\t'"),
        (lambda: dataset_names.postgres("db", 0, "crm", "public", "donors"), "The port 0 is not a number"),
        (lambda: dataset_names.postgres("db", "5432", "crm", "public", "donors"), "The port '5432' is not a number"),  # type: ignore[arg-type]
        (lambda: dataset_names.postgres("db:5432", 5432, "crm", "public", "donors"), "The host contains ':'"),
        (
            lambda: dataset_names.postgres("postgres://db", 5432, "crm", "public", "donors"),
            "The host contains ':', '/'",
        ),
        (lambda: dataset_names.kafka("a:9092,b", 9092, "donations"), "The host contains ':', ','"),
        (lambda: dataset_names.snowflake("org/x", "acct", "a", "b", "c"), "The organization contains '/'"),
        (lambda: dataset_names.s3("s3://lake", "crm"), "The bucket contains ':', '/'"),
        (lambda: dataset_names.s3("lake", "/"), "The key is empty"),
        (lambda: dataset_names.hdfs("namenode", 8020, "crm/donors"), "is not absolute"),
        (lambda: dataset_names.abfss("raw", "lake", ""), "is not absolute"),
        (lambda: dataset_names.file("donors.parquet"), "is not absolute"),
        (lambda: dataset_names.file("/data/../donors.parquet"), "is not absolute, or contains"),
        (lambda: dataset_names.file("file:///data/donors.parquet"), "is not absolute"),
        (lambda: dataset_names.sqlite(":memory:", "donors"), "is not absolute"),
        (lambda: dataset_names.http_api("https://benevity.org", "hours"), "The service contains ':', '/'"),
        (lambda: dataset_names.http_api("benevity.api", "hours?key=x"), "contains a query"),
        (lambda: dataset_names.llm_model("anthropic", ""), "The model is empty"),
        (lambda: DatasetName("", "donors"), "The namespace of a dataset is empty"),
        (lambda: DatasetName("crm", "do\nnors"), r"The name of a dataset contains '\\n'"),
    ],
)
def test_a_missing_or_invalid_part_raises(make: Callable[[], DatasetName], problem: str) -> None:
    with pytest.raises(InvalidName, match=problem):
        make()


@pytest.mark.parametrize(
    "make",
    [
        lambda secret: dataset_names.postgres(f"etl:{secret}@db", 5432, "crm", "public", "donors"),
        lambda secret: dataset_names.kafka(f"{secret}@broker", 9092, "donations"),
        lambda secret: dataset_names.postgres(f"etl:{secret}\n@db", 5432, "crm", "public", "donors"),
        lambda secret: dataset_names.http_api(f"https://{secret}@benevity.org", "hours"),
        lambda secret: dataset_names.abfss(f"etl:{secret}", "lake", "/crm"),
        lambda secret: DatasetName(f"postgres://etl:{secret}@db:5432", "crm.public.donors"),
        lambda secret: DatasetName(f"etl:{secret}@db", "crm.public.donors"),
        lambda secret: DatasetName(f"abfss://etl:{secret}@lake.dfs.core.windows.net", "/crm"),
    ],
)
def test_a_password_is_neither_in_the_name_nor_in_the_error(make: Callable[[str], DatasetName]) -> None:
    with pytest.raises(InvalidName) as error:
        make("s3cr3t")
    assert "s3cr3t" not in str(error.value)
