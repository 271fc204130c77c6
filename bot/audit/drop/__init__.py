"""DROP: sample logs in; what its scorer did to each generation, and whether it measures models, out.

records    a log                -> Record*       plain or gzip, JSON lines or one JSON array
samples    Record, golds        -> Sample        every form of log that lm-evaluation-harness wrote
scorer     generation, golds    -> Score         em and f1, bit for bit
detectors  generation, golds    -> flaws         glued numbers, cut decimals, generations that run on
assessment Sample               -> Assessment    one sample, scored as it stands and repaired
tally      Assessment*          -> Tally         counts only: memory does not grow with the log
figures    Tally                -> Figures       shares, means, correlation, what must be rerun
verdict    Figures              -> Finding*      what is wrong with the benchmark
"""
