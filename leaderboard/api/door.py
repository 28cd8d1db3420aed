"""The submission API as a process of its own, for tests and for machines that do not serve the
board."""

from __future__ import annotations

from fastapi import FastAPI

from infra.settings import Settings
from leaderboard.api import embed, submissions


def create_app(settings: Settings | None = None) -> FastAPI:
    """The application for these settings, or for those of the environment."""
    app = FastAPI(
        title="Armillary: handing in",
        version="1",
        openapi_url="/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
    )
    app.add_api_route("/v1/docs", embed.described, include_in_schema=False)
    app.state.settings = settings or Settings()
    submissions.install(app)
    return app
