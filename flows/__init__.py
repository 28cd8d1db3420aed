"""Where the work is put together: fetch, call, store. Prefect lives only here."""
