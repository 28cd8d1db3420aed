"""Real servers on 127.0.0.1 for the tests: S3, PostgreSQL and Prefect."""
