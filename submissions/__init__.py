"""Intake of submissions: the bundle format, its checks, the gates between stages, teams and quotas.
Imports infra, never evaluators, leaderboard or flows."""
