"""What the operator sets: the keys of `bot.toml`, patterns of many sources, and the environment variables."""
