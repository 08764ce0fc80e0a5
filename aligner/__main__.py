"""python -m aligner"""

from aligner.cli import main

main()
