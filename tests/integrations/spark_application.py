"""A Spark application that knows nothing of lineage: it writes two tables, joins them, and writes the result."""

import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

home = sys.argv[1]
spark = SparkSession.builder.appName("daily revenue").getOrCreate()

orders = [(1, "ann", 10.0), (2, "ben", 20.0), (3, "ann", 5.0)]
spark.createDataFrame(orders, "order_id INT, customer STRING, amount DOUBLE").write.parquet(f"{home}/orders")
customers = [("ann", "se"), ("ben", "de")]
spark.createDataFrame(customers, "name STRING, country STRING").write.parquet(f"{home}/customers")

spent = spark.read.parquet(f"{home}/orders").groupBy("customer").agg(F.sum("amount").alias("spent"))
known = spark.read.parquet(f"{home}/customers")
revenue = spent.join(known, spent["customer"] == known["name"]).groupBy("country").agg(F.sum("spent").alias("revenue"))
revenue.write.parquet(f"{home}/revenue")

spark.stop()
