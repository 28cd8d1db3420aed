"""Keeping a board running: watchdog, queue, inbox, deployments, backups. May import nightly and
everything under it."""
