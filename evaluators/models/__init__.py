"""The only place that imports torch: generators, judges and the small random models that stand in
for large ones."""
