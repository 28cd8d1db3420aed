"""The gates between stages (Great Expectations), and the validation report. May import bundle,
media, model_files and format."""
