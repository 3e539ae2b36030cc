"""Dataset names by the OpenLineage naming conventions, so that one table is one node for every producer."""

import re
from dataclasses import dataclass
from pathlib import PurePath

from openlineage.client.naming import dataset as systems

from lineproof.producers.naming import InvalidName, checked_text, quoted_list

_NOT_IN_HOSTS = re.compile(r"[^A-Za-z0-9._-]")
_IPV6 = re.compile(r"\[[0-9A-Fa-f:.]+\]")
_AZURE = re.compile(r"(?:abfs|wasb)s?://[A-Za-z0-9$-]+@[A-Za-z0-9.-]+")


@dataclass(frozen=True)
class DatasetName:
    """The namespace and name of a dataset. Use it directly for systems without a function below."""

    namespace: str
    name: str

    def __post_init__(self) -> None:
        checked_text("namespace of a dataset", self.namespace)
        checked_text("name of a dataset", self.name)
        if "@" in self.namespace and not _AZURE.fullmatch(self.namespace):
            raise InvalidName(
                "The namespace of a dataset contains an @, and there may be a password before it.",
                "Remove user and password: every reader of the lineage would see them.",
            )


def postgres(host: str, port: int, database: str, schema: str, table: str) -> DatasetName:
    """`postgres("db", 5432, "crm", "public", "donors")` is `crm.public.donors` at `postgres://db:5432`."""
    return _named(systems.Postgres(*_server(host, port), *_parts(database=database, schema=schema, table=table)))


def mssql(host: str, port: int, database: str, schema: str, table: str) -> DatasetName:
    """`mssql("db", 1433, "crm", "dbo", "donors")` is `crm.dbo.donors` at `mssql://db:1433`."""
    parts = _parts(database=database, schema=schema, table=table)
    return DatasetName("mssql://" + ":".join(_server(host, port)), ".".join(parts))


def mysql(host: str, port: int, database: str, table: str) -> DatasetName:
    """`mysql("db", 3306, "crm", "donors")` is `crm.donors` at `mysql://db:3306`."""
    return _named(systems.MySQL(*_server(host, port), *_parts(database=database, table=table)))


def hive(host: str, port: int, database: str, table: str) -> DatasetName:
    """`hive("metastore", 9083, "crm", "donors")` is `crm.donors` at `hive://metastore:9083`."""
    return _named(systems.Hive(*_server(host, port), *_parts(database=database, table=table)))


def snowflake(organization: str, account: str, database: str, schema: str, table: str) -> DatasetName:
    """`snowflake("org", "acct", "CRM", "PUBLIC", "DONORS")` is `CRM.PUBLIC.DONORS` at `snowflake://org-acct`."""
    place = _hosts(organization=organization, account=account)
    return _named(systems.Snowflake(*place, *_parts(database=database, schema=schema, table=table)))


def bigquery(project: str, dataset: str, table: str) -> DatasetName:
    """`bigquery("impact", "crm", "donors")` is `impact.crm.donors` at `bigquery`."""
    return _named(systems.BigQuery(*_parts(project=project, dataset=dataset, table=table)))


def redshift(cluster: str, region: str, port: int, database: str, schema: str, table: str) -> DatasetName:
    """`redshift("dw", "eu-west-1", 5439, "crm", "public", "donors")` is at `redshift://dw.eu-west-1:5439`."""
    place = [*_hosts(cluster=cluster, region=region), _port(port)]
    return _named(systems.Redshift(*place, *_parts(database=database, schema=schema, table=table)))


def glue(region: str, account: str, database: str, table: str) -> DatasetName:
    """`glue("eu-west-1", "123456789012", "crm", "donors")` is `table/crm/donors` at that account's ARN."""
    place = _hosts(region=region, account=account)
    return _named(systems.AWSGlue(*place, *_parts(database=database, table=table)))


def s3(bucket: str, key: str) -> DatasetName:
    """`s3("lake", "crm/donors")` is `crm/donors` at `s3://lake`; slashes around the key are dropped."""
    return _named(systems.S3(*_hosts(bucket=bucket), *_parts(key=key.strip("/"))))


def gs(bucket: str, key: str) -> DatasetName:
    """`gs("lake", "crm/donors")` is `crm/donors` at `gs://lake`; slashes around the key are dropped."""
    return _named(systems.GCS(*_hosts(bucket=bucket), *_parts(key=key.strip("/"))))


def abfss(container: str, account: str, path: str) -> DatasetName:
    """`abfss("raw", "lake", "/crm/donors")` is `/crm/donors` at `abfss://raw@lake.dfs.core.windows.net`."""
    return _named(systems.ABFSS(*_hosts(container=container, account=account), *_parts(path=_from_root(path))))


def hdfs(host: str, port: int, path: str) -> DatasetName:
    """`hdfs("namenode", 8020, "/crm/donors")` is `/crm/donors` at `hdfs://namenode:8020`."""
    return _named(systems.HDFS(*_server(host, port), *_parts(path=_from_root(path))))


def kafka(host: str, port: int, topic: str) -> DatasetName:
    """`kafka("broker", 9092, "donations")` is the topic `donations` at `kafka://broker:9092`."""
    return _named(systems.Kafka(*_server(host, port), *_parts(topic=topic)))


def file(path: str | PurePath) -> DatasetName:
    """`file("/data/donors.parquet")` is `/data/donors.parquet` at `file`."""
    return _named(systems.LocalFileSystem(_local_path(path)))


def sqlite(path: str | PurePath, table: str) -> DatasetName:
    """`sqlite("/data/crm.db", "donors")` is `/data/crm.db#donors` at `file`: OpenLineage has no rule for it."""
    return _named(systems.LocalFileSystem("#".join([_local_path(path), *_parts(table=table)])))


def http_api(service: str, resource: str) -> DatasetName:
    """`http_api("benevity.api", "volunteer_hours")`: without a query, so that every request has the same name."""
    if "?" in resource or "#" in resource:
        raise InvalidName("The resource of an API contains a query.", "Remove everything after the path.")
    return DatasetName(*_hosts(service=service), *_parts(resource=resource.strip("/")))


def llm_model(provider: str, model: str) -> DatasetName:
    """`llm_model("anthropic", "claude-sonnet-4-5")`: a language model as an input dataset."""
    return DatasetName(*_hosts(provider=provider), *_parts(model=model))


def _named(naming: systems.DatasetNaming) -> DatasetName:
    return DatasetName(naming.get_namespace(), naming.get_name())


def _parts(**parts: str) -> list[str]:
    return [checked_text(what, text) for what, text in parts.items()]


def _server(host: str, port: int) -> list[str]:
    return [host if _IPV6.fullmatch(host) else _hosts(host=host)[0], _port(port)]


def _hosts(**hosts: str) -> list[str]:
    """Check parts of a namespace. The error does not repeat a wrong part, because it may contain a password."""
    for what, text in hosts.items():
        if wrong := quoted_list(_NOT_IN_HOSTS.findall(checked_text(what, text))):
            raise InvalidName(
                f"The {what} contains {wrong}.",
                f"Give the {what} alone, without scheme, port or path, and without user and password, "
                "which every reader of the lineage would see.",
            )
    return list(hosts.values())


def _port(port: int) -> str:
    if not isinstance(port, int) or not 0 < port < 65536:
        raise InvalidName(f"The port {port!r} is not a number from 1 to 65535.", "Give the port as an integer.")
    return str(port)


def _from_root(path: str) -> str:
    if not path.startswith("/"):
        raise InvalidName(f"The path {path!r} is not absolute.", f"Write it as /{path}.")
    return "/" + path.strip("/")


def _local_path(path: str | PurePath) -> str:
    path = PurePath(checked_text("path", str(path)))
    if not path.is_absolute() or ".." in path.parts:
        raise InvalidName(
            f"The path {str(path)!r} is not absolute, or contains '..'.", "Give the result of Path(…).resolve()."
        )
    return path.as_posix()
