#!/usr/bin/env python3
"""How well cheap games rank players for 10x20: Spearman's rank correlation of each proxy with estimates on 10x20.

    cargo build --release -p host
    host/scripts/proxies.py [--players 30] [--spread 0.35]

The players are a champion and variations of it, every weight times exp(spread * normal): such as a search meets, from
weak ones to good ones. Estimates on 10x20 are from climbers. Beside each correlation stand its 95 % interval and the
pieces that the proxy takes for one player.
"""

import argparse
import json
import math
import pathlib
import random
import re
import subprocess
import tempfile

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--host", default="target/release/host", help="the program")
parser.add_argument("--player", default="results/players/champion20.toml", help="the weights file to vary")
parser.add_argument("--players", type=int, default=30, help="at least 4")
parser.add_argument("--spread", type=float, default=0.35)
parser.add_argument("--seed", type=int, default=1)
options = parser.parse_args()

TRUTH = ["--board", "10x20", "--climbers", "4000", "--games", "8"]
PROXIES = {
    "10x8, 400 games": ["--board", "10x8", "--games", "400"],
    "10x10, 400 games": ["--board", "10x10", "--games", "400"],
    "10x12, 400 games": ["--board", "10x12", "--games", "400"],
    "10x20 hard:4, 400 games": ["--board", "10x20", "--pieces", "hard:4", "--games", "400"],
    "10x20 hard:3, 400 games": ["--board", "10x20", "--pieces", "hard:3", "--games", "400"],
    "10x14, 1,000 climbers": ["--board", "10x14", "--climbers", "1000", "--games", "1"],
    "10x16, 1,000 climbers": ["--board", "10x16", "--climbers", "1000", "--games", "1"],
    "10x20, 1,000 climbers": ["--board", "10x20", "--climbers", "1000", "--games", "1"],
}


def evaluate(player, arguments, seed):
    command = [options.host, "evaluate", "--player", player, *arguments, "--seed", str(seed), "--json"]
    done = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    return done["lines"]["mean"], done["pieces_played"]


def varied(text, generator):
    """A weights file like this one. The integers follow from the real weights as `Player::quantise` has it."""
    line = re.compile(r"^(\w+) = \{ real = (\S+), quantised = \S+ \}$", re.MULTILINE)
    weights = {name: float(real) * math.exp(options.spread * generator.gauss(0, 1)) for name, real in line.findall(text)}
    # Landing height is measured in half rows.
    scaled = {name: weight / (2 if name == "landing_height" else 1) for name, weight in weights.items()}
    scale = 2 ** math.floor(math.log2(16383 / max(map(abs, scaled.values()))))
    quantised = {name: int(abs(weight) * scale + 0.5) * (-1 if weight < 0 else 1) for name, weight in scaled.items()}
    return line.sub(lambda of: f"{of[1]} = {{ real = {weights[of[1]]!r}, quantised = {quantised[of[1]]} }}", text)


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    return [order.index(i) for i in range(len(values))]


def spearman(a, b):
    a, b = ranks(a), ranks(b)
    mean = (len(a) - 1) / 2
    spread = math.sqrt(sum((x - mean) ** 2 for x in a) * sum((y - mean) ** 2 for y in b))
    return sum((x - mean) * (y - mean) for x, y in zip(a, b)) / spread


generator = random.Random(options.seed)
text = pathlib.Path(options.player).read_text()
# Its score is not that of a variation.
text = re.sub(r"\[provenance\.score\][^\[]*", "", text)
truth, proxies, pieces = [], {name: [] for name in PROXIES}, dict.fromkeys(PROXIES, 0)
with tempfile.TemporaryDirectory() as folder:
    for number in range(options.players):
        path = pathlib.Path(folder, f"{number}.toml")
        path.write_text(text if number == 0 else varied(text, generator))
        truth.append(evaluate(path, TRUTH, 1)[0])
        for name, arguments in PROXIES.items():
            mean, placed = evaluate(path, arguments, 2)
            proxies[name].append(mean)
            pieces[name] += placed
print(f"{options.players} players, {min(truth) / 1e6:.2f} to {max(truth) / 1e6:.1f} million lines on 10x20, estimated")
print("| proxy | rank correlation, 95 % interval | million pieces a player |\n|---|---|---|")
for name, values in proxies.items():
    correlation = spearman(values, truth)
    # Fieller, Hartley and Pearson 1957; a correlation of 1 has no such interval.
    middle = math.atanh(min(correlation, 1 - 1e-9))
    low, high = (math.tanh(middle + sign * 1.96 * math.sqrt(1.06 / (options.players - 3))) for sign in (-1, 1))
    interval = f"{low:.2f} to {high:.2f}"
    print(f"| {name} | {correlation:.2f} ({interval}) | {pieces[name] / options.players / 1e6:.2f} |")
