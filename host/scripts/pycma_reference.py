#!/usr/bin/env python3
"""Writes tests/data/pycma.json: what pycma, the reference implementation, says of plain CMA-ES.

    pip install cma && python3 host/scripts/pycma_reference.py

The tests of src/train/cma_es.rs compare with these figures, so that nobody needs Python to run them. Two tables:

- constants: pycma's default parameters for several dimensions;
- evaluations: how many evaluations it took, for each of 20 seeds, until an offspring was better than 1e-10.

Plain CMA-ES means without negative weights (CMA_active), without a diagonal phase, without mirrored samples; all
else is pycma's default. Stop criteria are switched off: a run ends when it reaches the target.
"""

import json
import os
import statistics
import warnings

warnings.simplefilter("ignore")

import cma  # noqa: E402

TARGET = 1e-10
SEEDS = range(1, 21)
PLAIN = {
    "CMA_active": False,
    "CMA_diagonal": False,
    "CMA_mirrors": 0,
    "verbose": -9,
    "ftarget": TARGET,
    "tolfun": 0,
    "tolfunhist": 0,
    "tolx": 0,
    "tolstagnation": 1e9,
    "maxfevals": 1e6,
}


def sphere(x):
    return float((x * x).sum())


def ellipsoid(x):
    n = len(x)
    return float(sum(1e6 ** (i / (n - 1)) * x[i] ** 2 for i in range(n)))


def rosenbrock(x):
    return float(sum(100 * (x[i] ** 2 - x[i + 1]) ** 2 + (x[i] - 1) ** 2 for i in range(len(x) - 1)))


# Name, function, every coordinate of the starting point, first step size.
FUNCTIONS = [
    ("sphere", sphere, 1.0, 0.5),
    ("ellipsoid", ellipsoid, 1.0, 0.5),
    # From 0 with small steps, so that few runs end in the local optimum near (-1, 1, ..., 1).
    ("rosenbrock", rosenbrock, 0.0, 0.1),
]


def constants(n):
    es = cma.CMAEvolutionStrategy(n * [0.0], 1, dict(PLAIN, seed=1))
    weights = [float(w) for w in es.sp.weights.positive_weights]
    return {
        "dimension": n,
        "lambda": int(es.sp.popsize),
        "mu": int(es.sp.weights.mu),
        "weights": weights,
        "mu_eff": float(es.sp.weights.mueff),
        "c_sigma": float(es.adapt_sigma.cs),
        "d_sigma": float(es.adapt_sigma.damps),
        "c_c": float(es.sp.cc),
        "c_1": float(es.sm.parameters(mueff=es.sp.weights.mueff, lam=es.sp.weights.lambda_).get("c1", es.sp.c1)),
        "c_mu": float(es.sm.parameters().get("cmu", es.sp.cmu)),
    }


def evaluations(function, n, start, sigma, seed):
    es = cma.CMAEvolutionStrategy(n * [start], sigma, dict(PLAIN, seed=seed))
    while True:
        points = es.ask()
        values = [function(x) for x in points]
        es.tell(points, values)
        if min(values) < TARGET:
            return int(es.countevals)
        # pycma's own limit of iterations; None stands for a run that ended in a local optimum.
        if es.countevals > 200_000 or (es.sigma * max(es.D) < 1e-13):
            return None


def main():
    runs = []
    for name, function, start, sigma in FUNCTIONS:
        for n in (8, 20):
            counts = [evaluations(function, n, start, sigma, seed) for seed in SEEDS]
            reached = [count for count in counts if count is not None]
            runs.append(
                {
                    "function": name,
                    "dimension": n,
                    "start": start,
                    "sigma": sigma,
                    "median": statistics.median(reached),
                    "evaluations": counts,
                }
            )
            print(name, n, statistics.median(reached), len(reached))
    out = {
        "pycma": cma.__version__,
        "target": TARGET,
        "constants": [constants(n) for n in (2, 3, 5, 8, 9, 20, 28)],
        "runs": runs,
    }
    path = os.path.join(os.path.dirname(__file__), "..", "tests", "data", "pycma.json")
    with open(path, "w") as file:
        json.dump(out, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
