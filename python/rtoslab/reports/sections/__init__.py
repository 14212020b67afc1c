"""The sections of a report, one topic per module: from analyses to sentences, charts and tables.

Each `..._section` returns None if it has nothing to say. `document` sets their order.
"""
