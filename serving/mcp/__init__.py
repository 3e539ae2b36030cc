"""The answers as tools for assistants, by the Model Context Protocol."""
