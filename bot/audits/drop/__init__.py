"""Audit sample logs of DROP: what its scorer did to each generation, and whether the benchmark measures models.

samples, golds    record -> DropSample       any log of lm-evaluation-harness; answers of a second file
scorer            generation -> DropScore    em and f1, bit for bit
assessment        DropSample -> Outcome      one sample, scored as it is and repaired, and its flaws
figures           Outcome* -> Figures        counts, which do not grow with the log; shares, means, reruns
health            Figures -> Finding*        what is wrong with the benchmark, and with a log
audit             log* -> DropAudit          all logs, which several processes share
"""
