"""What survives a kill: shard results in the store, leases, progress. Imports nothing else of
flows."""
