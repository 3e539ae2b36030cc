"""Every contract: Avro and JSON Schemas, tables, views, topic headers, reason codes, verdicts and errors."""
