"""What a disguised board's line does to its bytes."""

import re
import zlib
from random import Random


def add_jitter(starts: int, data: bytes) -> bytes:
    """Some rounds of a row take longer; the first start loses bytes as well. Whole lines alone are changed."""
    random = Random(len(data))  # noqa: S311

    def line(result: "re.Match[bytes]") -> bytes:
        runs = [run.partition(b"x") for run in result[2].split(b",")]
        values = [int(value) for value, _, times in runs for _ in range(int(times or 1))]
        if len(values) > 20:
            return result[0]
        noisy = [item + random.choice((0, 0, 0, 0, 0, 0, 1, 3)) for item in values]
        body = result[1] + b",".join(b"%d" % item for item in noisy) + b" n=%d" % len(noisy)
        return body + b" *%08x" % zlib.crc32(body)

    changed = re.sub(
        rb"^(@\d+ sample metric=\w+ values=)([0-9x,]+) n=\d+ \*[0-9a-f]{8}$", line, data, flags=re.MULTILINE
    )
    return changed.replace(b" values=", b" vales=", 1) if starts == 0 else changed
