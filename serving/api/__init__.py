"""The answers over HTTP."""
