"""The phase sweep: one interrupt at every cycle of one run, and how long handler and woken task let it wait.

`scenario` brings a board to where a sweep begins, `arrivals` sweeps, `places` names instructions, `finding` is what
came out, `folder` and `document` store and show it.
"""
