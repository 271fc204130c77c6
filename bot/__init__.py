"""leaderboard-bot: from a result file to a published, explained leaderboard entry.

The way of the data, in six lines:

    formats      bytes -> Result                    what was measured, whatever file it came from
    rules        Result, Leaderboard -> Finding*    what is wrong, where, and what to do
    score        Result, Leaderboard -> Scores      raw value, bound, clip, mean
    entry        Scores, evidence -> Entry          one row, canonical bytes
    publication  Entry, what stands -> Publication  what to post, if anything
    forges       Publication -> the outside         Hub, GitHub, or a folder
"""

__version__ = "0.1.0"

HOME = "https://github.com/leaderboard-bot/leaderboard-bot"
