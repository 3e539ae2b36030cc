"""The versions of Spark and Delta that the private calls were tried with."""

from typing import Any

from pyspark.sql import SparkSession

from lineproof.schemas.errors import LineproofError

TRIED = {"Spark": "4.1", "Delta": "4.4"}
"""Major and minor version: a patch release does not change signatures. An upgrade runs the contract test first."""


class UntriedVersion(LineproofError):
    """Spark or Delta has a version that lineproof's private calls were not tried with."""


def check_versions(spark: SparkSession) -> None:
    """Refuse other versions of Spark and Delta, before any table is touched."""
    refuse_untried({"Spark": spark.version, "Delta": _delta_version(spark)})


def _delta_version(spark: SparkSession) -> str:
    jvm: Any = spark._jvm
    try:
        return str(jvm.io.delta.package.VERSION())
    except TypeError:  # py4j takes the name of a class that is missing for a package, which cannot be called
        return "(not found)"


def refuse_untried(found: dict[str, str]) -> None:
    """Refuse if one of these versions is not the one that was tried."""
    if any(found[name] != tried and not found[name].startswith(f"{tried}.") for name, tried in TRIED.items()):
        raise UntriedVersion(
            f"This is {_listed(found)}, but lineproof writes tables with internal classes of {_listed(TRIED)}.",
            f"Use Spark {TRIED['Spark']} with the JAR delta-spark_{TRIED['Spark']}_2.13 of Delta {TRIED['Delta']}, or "
            "a release of lineproof that supports your versions.",
        )


def _listed(versions: dict[str, str]) -> str:
    return " and ".join(f"{name} {version}" for name, version in versions.items())
