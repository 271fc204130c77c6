"""python -m bot.action, as `action.yml` runs it."""

import logging
import sys

from bot.action.run import main
from bot.reporting.log_lines import log_handler
from bot.service.settings.environment import environment

if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING, handlers=[log_handler()])
    sys.exit(main(environment(), sys.stdout))
