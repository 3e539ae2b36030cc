"""What readers ask, one subject per file: pydantic models, and functions from tables to answers. No HTTP."""
