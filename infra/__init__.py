"""The outside world: settings, rows, objects. Ignorant of benchmarks."""
