"""W1 as a numpy Monte-Carlo script: `numpy_w1.py plain|blocks FRAMES`.

This is no simulator: it computes all frames of a path on which no frame waits for another. `plain` is what one writes at
once; `blocks` works in place on blocks that fit in the cache, and counts instead of sorting.
"""

import sys
import time

import w1

np = w1.module("numpy")

BLOCK = 8_192
REACH = 2_048


def plain(frames):
    """Whole arrays."""
    generator = np.random.default_rng(1)
    submit = np.arange(frames, dtype=np.int64) * w1.INTERVAL
    fetched = submit + w1.FETCH
    held = (submit + w1.LEAD) // w1.UNIT * w1.UNIT
    wanted = held + generator.normal(0.0, w1.JITTER, frames)
    release = np.maximum(np.ceil(wanted / w1.UNIT).astype(np.int64) * w1.UNIT, fetched)
    stamp = release * 13 // 16 * 16 // 13
    interval = np.diff(stamp)
    low, high = np.percentile(interval, [0.5, 99.5])
    return interval.mean(), interval.std(), interval.min(), interval.max(), low, high


def blocks(frames, seed=1):
    """Blocks in place, in 64-bit integers; divisions by powers of two are shifts."""
    generator = np.random.Generator(np.random.SFC64(seed))
    counts = np.zeros(2 * REACH, dtype=np.int64)
    steps = np.arange(BLOCK, dtype=np.int64) * w1.INTERVAL
    noise = np.empty(BLOCK)
    release, fetched = np.empty(BLOCK, dtype=np.int64), np.empty(BLOCK, dtype=np.int64)
    stamp = np.empty(BLOCK + 1, dtype=np.int64)
    for first in range(0, frames, BLOCK):
        size = min(BLOCK, frames - first)
        generator.standard_normal(size, out=noise[:size])
        # Units of 128 ns beyond the launch time's own, rounded up.
        noise[:size] *= w1.JITTER / w1.UNIT
        np.ceil(noise[:size], out=noise[:size])
        np.add(steps[:size], first * w1.INTERVAL + w1.FETCH, out=fetched[:size])
        np.add(fetched[:size], w1.LEAD - w1.FETCH, out=release[:size])
        release[:size] >>= 7
        np.add(release[:size], noise[:size], out=release[:size], casting="unsafe")
        release[:size] <<= 7
        np.maximum(release[:size], fetched[:size], out=release[:size])
        here = stamp[1 : size + 1]
        np.multiply(release[:size], 13, out=here)
        here >>= 4
        here <<= 4
        np.floor_divide(here, 13, out=here)
        begin = 1 if first == 0 else 0
        interval = np.diff(stamp[begin : size + 1])
        interval += REACH - w1.INTERVAL
        counts += np.bincount(interval, minlength=2 * REACH)
        stamp[0] = stamp[size]
    return figures_of(counts)


def figures_of(counts):
    """The six figures of counts around the nominal interval."""
    values = np.arange(-REACH, REACH) + w1.INTERVAL
    total = counts.sum()
    mean = (values * counts).sum() / total
    deviation = np.sqrt(((values - mean) ** 2 * counts).sum() / total)
    seen = np.cumsum(counts)
    low, high = (values[np.searchsorted(seen, part * (total - 1), side="right")] for part in (0.005, 0.995))
    present = values[counts > 0]
    return mean, deviation, present[0], present[-1], low, high


def main():
    """Runs and prints."""
    work = {"plain": plain, "blocks": blocks}[sys.argv[1]]
    frames = int(sys.argv[2])
    start = time.perf_counter()
    figures = work(frames)
    w1.report(time.perf_counter() - start, frames, figures)


if __name__ == "__main__":
    main()
