"""leaderboard-bot: from a result file to a published, explained leaderboard entry.

The way of the data, in six lines:

    formats      bytes -> Result                    what was measured, whatever file it came from
    rules        Result, Leaderboard -> Finding*    what is wrong, where, and what to do
    join         Verdict* -> Row*                   all files of one model, scored together
    entry        Row, evidence -> Entry             one row, canonical bytes
    publication  Entry, what stands -> Publication  what to post, if anything
    platforms    Publication -> the outside         Hub, GitHub, or a folder
"""

import logging

__version__ = "0.1.0"

HOME = "https://github.com/leaderboard-bot/leaderboard-bot"

# What is logged is shown where a program sets that up; the command line shows one line for each failure.
logging.getLogger(__name__).addHandler(logging.NullHandler())
