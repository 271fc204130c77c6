"""python -m bot.action, as `action.yml` runs it."""

import sys

from bot.action.run import main
from bot.service.environment import environment

if __name__ == "__main__":
    sys.exit(main(environment(), sys.stdout))
