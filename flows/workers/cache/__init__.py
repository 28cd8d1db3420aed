"""What a worker keeps on its disk between tasks: bundles and models, and room for the next."""
