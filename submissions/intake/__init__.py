"""From a checked bundle to a submission, whatever the door: upload, inbox, hub, API entry. May
import all rooms below."""
