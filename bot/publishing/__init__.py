"""What is published: entries, boards, decisions, and every sentence that the bot posts."""
