"""Answer what people write to the bot: commands, waivers, the discussions about folders, and limits on strangers."""
