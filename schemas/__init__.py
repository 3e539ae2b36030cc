"""Every contract: Avro and JSON Schemas, their readers and writers, and the root error."""
