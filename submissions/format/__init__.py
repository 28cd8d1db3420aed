"""The bundle format: manifest, archive, names, strict JSON, error codes. Imports nothing else of
submissions."""
