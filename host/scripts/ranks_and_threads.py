#!/usr/bin/env python3
"""Pieces per second of N ranks with one thread each, as a share of those of one process with N threads.

    cargo build --release -p host --features mpi
    host/scripts/ranks_and_threads.py [--ranks 2] [--repeats 10] [-- host's arguments]

The two are measured in turn, so that what else the machine does hits both. It prints each pair, the ratio of the best of
both, and that of the medians. A scheduler may well give ranks, which mpirun binds to cores, more of a busy machine than
threads: then only the last figure tells something, which is the same by the seconds that the cores worked, the ranks'
start included.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--host", default="target/release/host", help="the program")
parser.add_argument("--ranks", type=int, default=2)
parser.add_argument("--repeats", type=int, default=10)
parser.add_argument("arguments", nargs="*", default=["evaluate", "--board", "10x10", "--games", "10000"])
options = parser.parse_args()

# Root may not start ranks unless it insists.
environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def worked():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measure(start, threads):
    command = [*start, options.host, *options.arguments, "--threads", str(threads), "--json"]
    before = worked()
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    result = json.loads(done.stdout)
    assert result["threads"] == options.ranks, result
    return result["pieces_per_second"], worked() - before, result["digest"]


pairs, seconds = [], []
for _ in range(options.repeats):
    threads, threads_worked, expected = measure([], options.ranks)
    ranks, ranks_worked, digest = measure(["mpirun", "-n", str(options.ranks)], 1)
    assert digest == expected, "the ranks played other games"
    pairs.append((threads, ranks))
    seconds.append((threads_worked, ranks_worked))
    rates = f"threads {threads / 1e6:6.2f} M pieces/s   ranks {ranks / 1e6:6.2f} M pieces/s"
    print(f"{rates}   {ranks / threads:.3f}", flush=True)
best_threads, best_ranks = (max(values) for values in zip(*pairs))
median_threads, median_ranks = (statistics.median(values) for values in zip(*pairs))
least_threads, least_ranks = (min(values) for values in zip(*seconds))
print(f"best of each: {best_ranks / best_threads:.3f}; medians: {median_ranks / median_threads:.3f}; "
      f"by the seconds worked, best of each: {least_threads / least_ranks:.3f}")
