"""What reading one of the most expensive inputs takes, in a process of its own: `-m tests.inputs.measure NAME`."""

import json
import resource
import sys
import time
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
    said = KINDS[kind].refuses(data)
    seconds = time.process_time() - began
    status = Path("/proc/self/status").read_text()
    most = next((line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")), None)
    kilobytes = int(most) if most else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"name": name, "kind": kind, "size": len(data), "seconds": seconds, "bytes": kilobytes << 10, "said": said}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure(sys.argv[1])) + "\n")
