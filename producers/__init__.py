"""The emitter library: builds lineage events and delivers them to Kafka or another endpoint."""
