"""Models that make pictures and clips: diffusion pipelines, adapters, APIs."""
