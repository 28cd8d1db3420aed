"""What a submitter runs: import, pack, the client of the API. May import bundle, format."""
