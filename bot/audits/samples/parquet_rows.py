"""A program of its own: print each row of a Parquet file as a line of JSON, in bounded memory.

The file may be a stranger's, and a few kilobytes of it may unpack to any size: what it costs ends with this process.
"""

import json
import os
import resource
import sys
from contextlib import suppress
from pathlib import Path

ROWS = 256  # decoded at once: a row may hold thousands of tokens


def main(path: str, memory: int) -> None:
    """Print the rows, or end with the reason why the rest cannot be read; `memory` is in bytes."""
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"  # the others reserve a gigabyte before they need it
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    pa.set_cpu_count(1)
    _bound(memory)
    try:
        with ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=ROWS, use_threads=False):
                for row in batch.to_pylist():
                    sys.stdout.write(f"{json.dumps(row, default=str)}\n")
    except MemoryError:  # Arrow's own is one, too
        sys.exit(f"it unpacks to more than {memory >> 20} MB")
    except Exception as error:  # noqa: BLE001 - whatever Arrow raises, the file cannot be read
        sys.exit(str(error).replace("\n", " "))


def _bound(memory: int) -> None:
    """Take no more than so many bytes beside what the packages have taken, which grows with the machine's cores."""
    with suppress(OSError, ValueError):  # no such system, or a lower limit
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + memory, taken + memory))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
