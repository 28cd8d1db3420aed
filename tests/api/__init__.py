"""The API, asked over HTTP."""
