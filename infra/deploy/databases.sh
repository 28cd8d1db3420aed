#!/bin/sh
# Prefect has a user and a database of its own: its server reads no row of ours.
set -eu
psql --set ON_ERROR_STOP=1 --set password="$(cat /run/secrets/prefect_database_password)" --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" <<'SQL'
CREATE ROLE prefect LOGIN PASSWORD :'password';
CREATE DATABASE prefect OWNER prefect;
REVOKE CONNECT ON DATABASE armillary FROM PUBLIC;
SQL
