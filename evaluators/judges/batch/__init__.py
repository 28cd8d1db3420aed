"""Judging by batch jobs: the lines of a job, the job at the endpoint, and the judge that reads
them."""
