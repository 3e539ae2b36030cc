"""All that puts events on a topic."""
