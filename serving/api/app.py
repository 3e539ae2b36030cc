"""The read side of the server, added to the application that has the gateway."""

from fastapi import FastAPI

from lineproof.serving.answers.installation import Installation
from lineproof.serving.api import docs_routes, v1
from lineproof.serving.api.errors import add_error_handlers
from lineproof.serving.api.reading import STATE, ReadService
from lineproof.serving.open_tables import OpenTables


def add_read_routes(app: FastAPI, tables: OpenTables, info: Installation) -> None:
    """Add all GET routes over the tables. The guard around the application has checked the key by then."""
    setattr(app.state, STATE, ReadService(tables, info))
    add_error_handlers(app)
    app.include_router(v1.router())
    app.include_router(docs_routes.router)
