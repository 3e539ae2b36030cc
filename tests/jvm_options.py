"""Options of Spark and of the JVM that make short-lived processes with little data faster."""

# Compiling a query takes longer than running it over the few rows of a test.
NO_CODEGEN = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}

SPARK_OPTIONS = {"spark.master": "local[2]", "spark.driver.memory": "2g", **NO_CODEGEN}

# The same is true of the JVM's optimising compiler, and of verifying classes that come from the same JARs each time.
JVM_OPTIONS = (
    "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m "
    "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)
