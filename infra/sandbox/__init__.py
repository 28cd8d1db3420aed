"""Confinement of child processes that read untrusted files: network, memory, file access. Imports
no other room."""
