"""The deployment, run: what compose starts, in environments with only what each image installs, and
the operator's book, typed."""
