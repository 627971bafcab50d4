"""python -m bayespoint: the command."""

from .cli import main

main()
