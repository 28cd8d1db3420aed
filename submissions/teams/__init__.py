"""Teams: tokens, quotas, rate limits, roles, and the states of their submissions. May import
bundle, media, model_files and format."""
