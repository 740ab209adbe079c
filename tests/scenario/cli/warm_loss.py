"""A trial of every_key.py that Python starts warm."""

import sys

for step in 1, 2, 3, 4:
    print(f"hpotune: step={step} loss={sys.argv[1]} other={sys.argv[1]}")
