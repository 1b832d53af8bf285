"""W1 as one process of SimPy: `simpy_w1.py FRAMES`."""

import math
import random
import sys
import time
from collections import Counter

import w1

simpy = w1.module("simpy")


def card(env, frames, stamps):
    """Every frame's life, one after the other."""
    gauss = random.Random(1).gauss
    for number in range(frames):
        submit = number * w1.INTERVAL
        yield env.timeout(submit - env.now)
        yield env.timeout(w1.FETCH)
        held = (submit + w1.LEAD) // w1.UNIT * w1.UNIT
        release = max(math.ceil((held + gauss(0.0, w1.JITTER)) / w1.UNIT) * w1.UNIT, env.now)
        yield env.timeout(release - env.now)
        ticks = env.now * 13 // 16
        stamps(ticks * 16 // 13)


class Intervals:
    """Exact counts of the intervals."""

    def __init__(self):
        self.counts = Counter()
        self.last = None

    def take(self, stamp):
        """Takes the next stamp."""
        if self.last is not None:
            self.counts[stamp - self.last] += 1
        self.last = stamp

    def figures(self):
        """Mean, standard deviation, minimum, maximum, p0.5 and p99.5."""
        ordered = sorted(self.counts.items())
        total = sum(count for _, count in ordered)
        mean = sum(value * count for value, count in ordered) / total
        variance = sum((value - mean) ** 2 * count for value, count in ordered) / total

        def quantile(part):
            rank, seen = part * (total - 1), 0
            for value, count in ordered:
                seen += count
                if seen > rank:
                    return value
            return ordered[-1][0]

        return mean, math.sqrt(variance), ordered[0][0], ordered[-1][0], quantile(0.005), quantile(0.995)


def main():
    """Runs and prints."""
    frames = int(sys.argv[1])
    start = time.perf_counter()
    env, intervals = simpy.Environment(), Intervals()
    env.process(card(env, frames, intervals.take))
    env.run()
    figures = intervals.figures()
    w1.report(time.perf_counter() - start, frames, figures)


main()
