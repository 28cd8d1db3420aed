"""Settings, database tables, object store, leases and sandbox. Knows nothing of benchmarks."""
