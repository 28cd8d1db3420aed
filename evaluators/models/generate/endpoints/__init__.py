"""Pictures and clips bought behind an endpoint: calls, protocols of video jobs, what they cost."""
