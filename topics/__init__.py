"""Kafka topics from the client's side: cluster, tail, load, replay, redrive, gaps."""
