"""python -m bot, and the command: what is imported may take a second, in which a person may stop it."""

import sys


def main() -> None:
    """Run the command line; stopped while it is imported, it ends as it does later."""
    try:
        from bot.cli.app import run
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
