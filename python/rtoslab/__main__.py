"""`python -m rtoslab` is the command `rtoslab`."""

from rtoslab.cli import main

main()
