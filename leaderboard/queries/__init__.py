"""Every SELECT of the pages and the API."""
