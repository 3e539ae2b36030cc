"""The read side, without Spark: one Delta reader, SQL, and everything that is answered from the tables."""
