"""``python -m minrepro``."""

from minrepro.cli import main

main()
