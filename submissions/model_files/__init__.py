"""Model folders: configs, weights, shapes, chat templates. May import format."""
