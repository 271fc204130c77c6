"""Data that ships with the bot: leaderboards and releases of the harness."""
