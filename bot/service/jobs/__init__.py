"""Many processes on one state: passes and rows as jobs in PostgreSQL, carried by Procrastinate (extra `postgres`)."""
