"""Worlds and policies of somebody else, over a network or by import: what goes over the wire, and
both of its ends."""
