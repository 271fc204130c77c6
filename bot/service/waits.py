"""How long the service waits, in seconds: for a pass, for the next try, and for other processes.

How long one call to Hub or GitHub may take, and when it is made again, is in `platforms/net.py`.
"""

from __future__ import annotations

from bot.platforms.net import Backoff

# Between two passes over a watch; `settle_every` says when one is due by itself.
AFTER_HINT = 1.0  # for collecting: a burst of pushes becomes one or two passes
BETWEEN_PASSES = 5.0  # at least, without a hint
AFTER_OUTAGE = 60.0  # where the service named no end
SWEEP_EVERY = 86_400.0  # the search for duplicates of what the bot posted

# Until something that failed is tried again, unless the service names a time.
FIRST_RETRY = 60.0  # of an item; doubled each time
LONGEST_RETRY = 6 * 3600.0
REFUSED_RETRY = 3600.0  # at least, of a row that the target cannot have
# Of a write that was overtaken: one item waits at most 10 seconds, for others could go on; then a later pass has it.
WRITE_RETRY = Backoff(pause=0.2, longest=10.0)
# Of an import, which ends after so many outages one after the other without progress.
IMPORT_RETRY = Backoff(pause=1.0, tries=7, longest=3600.0)

# Between two looks at what nothing reports.
COUNT_EVERY = 60.0  # at the ledgers of a watch
COUNT_SHARE = 20  # times as long as they took, at least: those of a large board take their time
REVIEWS_EVERY = 300.0  # at a long list of requests at the source
MODELS_EVERY = 3600.0  # at the Hub for models
MODEL_EVERY = 86_400.0  # for one model

SETTINGS_EVERY = 5.0  # at the file of settings
SETTINGS_RETRY = 60.0  # at settings that were refused: the fault may be in a declaration, or at a service
PATTERNS_EVERY = 900.0  # at the datasets that a pattern names

# For other processes.
LEASE_PATIENCE = 10.0  # for one that has the watch or the state, and for rows that workers have
LEASE_LOOK = 0.25  # between two tries
STOP_PATIENCE = 5.0  # for running work where the server stops; with open requests at most 8
WORKER_BEAT, WORKER_DEAD = 5.0, 20.0  # between two signs of life, and until a silent worker counts as dead
WORKER_LOOK, JOBS_EVERY = 5.0, 1.0  # between two looks at what is due, and for jobs whose time has come
WORKER_PAUSE = 1.0  # before a worker that lost its database starts again
WORKER_WARNS_EVERY = 60.0  # about the same outage
