"""A program of its own: print each row of a Parquet file as a line of JSON, in bounded memory.

The file may be a stranger's, and a few kilobytes of it may unpack to any size: what it costs ends with this process.
"""

import json
import resource
import sys
from contextlib import suppress

ROWS = 256  # decoded at once: a row may hold thousands of tokens


def main(path: str, memory: int) -> None:
    """Print the rows, or end with the reason why the rest cannot be read; `memory` is in bytes."""
    with suppress(OSError, ValueError):  # a lower limit holds already
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=ROWS):
                for row in batch.to_pylist():
                    sys.stdout.write(f"{json.dumps(row, default=str)}\n")
    except MemoryError:  # Arrow's own is one, too
        sys.exit(f"it unpacks to more than {memory >> 20} MB")
    except Exception as error:  # noqa: BLE001 - whatever Arrow raises, the file cannot be read
        sys.exit(str(error).replace("\n", " "))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
