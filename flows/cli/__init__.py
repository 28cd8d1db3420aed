"""The command line: the app, what a person sees in the terminal, and local journeys (demo, doctor,
serve). May import all of flows."""
