"""The read side, without Spark: one Delta reader, SQL, and the commands that read tables."""
