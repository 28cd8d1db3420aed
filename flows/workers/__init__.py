"""What runs on a worker, away from the database: outputs, judging, and how shards are spread. May
import durable."""
