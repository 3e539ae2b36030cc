"""Kafka topics from the client's side: the cluster, tail, and records that are published again."""
