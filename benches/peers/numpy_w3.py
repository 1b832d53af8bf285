"""W3 with numpy in processes: `numpy_w3.py plain|blocks PROCESSES POINTS FRAMES` prints ns per frame of wall time.

Each point is W1 with a seed of its own. Starting the pool counts, starting the interpreter does not.
"""

import multiprocessing
import sys
import time

import numpy_w1


def point(seed):
    """One point: FRAMES frames of W1."""
    frames = int(sys.argv[4])
    return numpy_w1.plain(frames) if sys.argv[1] == "plain" else numpy_w1.blocks(frames, seed)


def main():
    """Runs and prints."""
    processes, points, frames = map(int, sys.argv[2:5])
    start = time.perf_counter()
    with multiprocessing.Pool(processes) as pool:
        rows = pool.map(point, range(points), chunksize=max(1, points // (8 * processes)))
    assert len(rows) == points
    print((time.perf_counter() - start) / (points * frames) * 1e9)


if __name__ == "__main__":
    main()
