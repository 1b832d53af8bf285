"""W1 in plain Python: what the scripts of this folder share.

One card, a frame every 100 us: submit, fetch 1 us later, release at the launch time (50 us after the submit, in
units of 128 ns) plus a normal jitter of 64 ns, rounded up to 128 ns, and a stamp by a clock of 812.5 MHz (13 ticks in
16 ns). A script prints its nanoseconds per frame, then mean, standard deviation, minimum, maximum, p0.5 and p99.5 of the
intervals between stamps [ns].
"""

import sys

INTERVAL = 100_000
LEAD = 50_000
FETCH = 1_000
UNIT = 128
JITTER = 64.0

# What the bench takes for "not installed".
ABSENT = 3


def module(name):
    """The module `name`; without it the script ends."""
    try:
        return __import__(name)
    except ImportError:
        print(f"{name} is not installed", file=sys.stderr)
        sys.exit(ABSENT)


def report(seconds, frames, figures):
    """Prints what the bench reads."""
    print(seconds / frames * 1e9, *figures)
