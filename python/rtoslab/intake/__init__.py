"""The one way in for what others made: every file and every text from outside is read here, within stated limits.

A reader of this package refuses in one sentence what is too large, too deep, too wide, too long or too late, before it
costs memory or time; no other module opens or parses what comes from outside (`test_tidy.py` looks). `limits` holds all
numbers; `files` reads bytes and text; `tables` TOML, `objects` JSON, `archives` zip files, `images` ELF; `numbers`
integers and decimals in any of them and on the command line; `names` what becomes part of a file's name.
"""
