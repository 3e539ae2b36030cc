"""The Spark job, in the order data flows: source, decode, facts, tables."""
