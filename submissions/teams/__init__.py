"""Who hands in: tokens, quotas, rate limits, roles, and the life of a submission."""
