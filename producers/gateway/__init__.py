"""The gateway: events of any OpenLineage HTTP client, from the bytes of a request to a record that the broker has."""
