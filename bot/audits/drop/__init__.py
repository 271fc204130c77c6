"""Audit sample logs of DROP: what its scorer did to each generation, and whether the benchmark measures models.

log_parts         a log -> parts             plain or gzip, JSON lines or one JSON array
sample_reader     record -> DropSample       every format of log that lm-evaluation-harness wrote
answers, golds    gold answers               with what is computed once for them, or from a second file
scorer            generation -> DropScore    em and f1, bit for bit
assessment        DropSample -> Outcome      one sample, scored as it is and repaired, and its flaws
part              part -> PartAudit          what one process does of the work
counters          Outcome* -> Counters       counts only: memory does not grow with the log
figures           Counters -> Figures        shares, means, correlation, what must be run again
health, findings  Figures -> Finding*        what is wrong with the benchmark, and with a log
"""
