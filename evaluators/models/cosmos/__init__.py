"""Cosmos 3 as a world model: its pipeline behind the contract, and fine-tuning it on a kit."""
