"""The steps of a batch, in order: decode, facts, batch, graph, publish."""
