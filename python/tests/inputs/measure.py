"""What reading one of the most expensive inputs takes, in a process of its own: `-m tests.inputs.measure NAME...`.

To load the readers takes longer than most of them read, so each input's process is forked of one that has loaded them.
"""

import json
import os
import resource
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.inputs.kinds import KINDS
from tests.inputs.large import LARGE

LIMIT_S: Final = 10
LIMIT_BYTES: Final = 500 << 20


def measure(name: str) -> dict[str, object]:
    """Processor seconds, the most memory of the whole process while it read, and what was said."""
    kind, make = LARGE[name]
    data = make()
    Path("/proc/self/clear_refs").write_text("5")  # the most memory counts from here on
    began = time.process_time()
    output = KINDS[kind].refuses(data)
    seconds = time.process_time() - began
    status = Path("/proc/self/status").read_text()
    most = next((line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")), None)
    kilobytes = int(most) if most else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"name": name, "kind": kind, "size": len(data), "seconds": seconds, "bytes": kilobytes << 10, "said": output}


def main(names: Sequence[str]) -> int:
    """Writes a line for each; the code of the first process that failed."""
    for name in names:
        child = os.fork()
        if child == 0:
            sys.stdout.write(json.dumps(measure(name)) + "\n")
            return 0
        if code := os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
