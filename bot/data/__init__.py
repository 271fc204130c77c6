"""Data that ships with the bot: leaderboards, the catalogue of benchmarks, and releases of the harness."""
