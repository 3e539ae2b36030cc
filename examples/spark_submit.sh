#!/usr/bin/env sh
# Run the job on a Spark cluster: MASTER=spark://HOST:7077 examples/spark_submit.sh [spark-submit options]
#
# Only the driver needs `pip install 'lineproof[streaming]'`: the executors run no Python of the job.
# Set `tables` and `checkpoints` in CONFIG to a place that the whole cluster can reach (s3a://…, abfss://…, hdfs://…).
# Where packages cannot be downloaded, run `lineproof jars` on a machine with access, copy the JARs of its folder `spark`,
# and set DEPENDENCIES="--jars a.jar,b.jar,…".
set -eu
cd "$(dirname "$0")/.."

MASTER=${MASTER:-spark://localhost:7077}
CONFIG=${CONFIG:-conf/lineproof.yaml}
PACKAGES=io.delta:delta-spark_4.1_2.13:4.4.0,org.apache.spark:spark-sql-kafka-0-10_2.13:4.1.3,org.apache.spark:spark-avro_2.13:4.1.1,org.apache.kafka:kafka-clients:3.9.2
DEPENDENCIES=${DEPENDENCIES:---packages $PACKAGES}
# A damaged length in an Avro record must not make an executor allocate two gigabytes.
AVRO_LIMITS="-Dorg.apache.avro.limits.bytes.maxLength=67108864 -Dorg.apache.avro.limits.string.maxLength=1048576"

# shellcheck disable=SC2086  # DEPENDENCIES is an option and its value
exec "${SPARK_HOME:+$SPARK_HOME/bin/}spark-submit" --master "$MASTER" $DEPENDENCIES \
    --conf spark.executor.extraJavaOptions="$AVRO_LIMITS" \
    "$@" streaming/main.py --config "$CONFIG"
