"""One table, one module: its columns, its pure transform, and how a batch is merged into it."""
