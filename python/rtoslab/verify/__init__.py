"""A stored run compared with what its own raw data give: `rtoslab verify`.

A seal shows that files are as they were stored. This shows that they say what was measured. The serial stream is
decoded again, every proof judged again, every figure computed again by this version of rtoslab, and what differs from
the stored result is named. Nothing is measured: `rtoslab run --fresh` does that.
"""

from rtoslab.verify.run import verify_folder
