"""python -m bot."""

from bot.cli.app import run

if __name__ == "__main__":
    run()
