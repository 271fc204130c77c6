"""python -m bot, and the command: what is imported may take a second, in which a person may stop it."""

import atexit
import gc
import sys

MOST_YOUNG = 10_000  # values that are made before garbage is looked for: nearly all that a command makes stays


def main() -> None:
    """Run the command line; stopped while it is imported, it ends as it does later."""
    gc.set_threshold(MOST_YOUNG)
    atexit.register(gc.freeze)  # the memory ends with the process: nobody looks for garbage in it
    try:
        from bot.cli.app import run
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
