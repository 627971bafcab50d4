"""python -m bayespoint: the command."""

from .cli import main

if __name__ == "__main__":  # processes that Python starts import this file, too
    main()
