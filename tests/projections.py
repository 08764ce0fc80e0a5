"""The projection of posteriors, slowly: all paths are enumerated, and scipy solves the dual."""

from __future__ import annotations

import numpy as np
import oracle
from problems import Problem
from scipy.optimize import minimize


def features_of(problem: Problem, n: int, constraint: str) -> list:
    """(entries, kind, bound) of a sentence pair's features, numbered as in constraints.pxd."""
    I, J = problem.shape(n)
    features: list = []
    if constraint == "symmetric":
        features += [
            ([("forward", i, j, 1.0), ("reverse", i, j, -1.0)], "=", 0.0) for i, j in np.ndindex(I, J)
        ]
    if constraint == "bijective":
        features += [([("forward", i, j, 1.0) for j in range(J)], "<=", 1.0) for i in range(I)]
        features += [([("reverse", i, j, 1.0) for i in range(I)], "<=", 1.0) for j in range(J)]
    more = problem.known.constraints
    if more is not None:
        for k in range(more.offsets[n], more.offsets[n + 1]):
            part = slice(more.starts[k], more.starts[k + 1])
            names = [("forward", "reverse")[d] for d in more.direction[part]]
            columns = zip(names, more.src[part], more.tgt[part], more.coefficient[part], strict=True)
            features.append((list(columns), "=" if more.equal[k] else "<=", float(more.bound[k])))
    return features


def enumerated(problem: Problem, n: int, constraint: str, slack: float) -> tuple[oracle.Dual, list]:
    """The dual of a sentence pair over all paths, and the bounds of lam."""
    features = features_of(problem, n, constraint)
    parts = []
    for d in range(2):
        logs, paths = oracle.weighted_paths(*problem.lattice(n, d))
        values = np.zeros((len(paths), len(features)))
        for a, path in enumerate(paths):
            links = [(state, row) if d == 0 else (row, state) for state, row in path]
            for k, (entries, _, _) in enumerate(features):
                values[a, k] = sum(
                    x for name, i, j, x in entries if name == ("forward", "reverse")[d] and (i, j) in links
                )
        parts.append((logs, values))
    bounds = [(None if kind == "=" else 0, None) for _, kind, _ in features]
    return oracle.Dual(parts, [bound for *_, bound in features], slack), bounds


def solved(dual: oracle.Dual, bounds: list) -> np.ndarray:
    """lam by scipy."""
    options = {"maxiter": 5000, "ftol": 1e-15, "gtol": 1e-9}
    start = np.full(len(dual.b), 1e-3)
    return minimize(dual.phi, start, jac=dual.gradient, bounds=bounds, method="L-BFGS-B", options=options).x


def links_of(problem: Problem, n: int, d: int, q: np.ndarray) -> np.ndarray:
    """[I, J] posteriors from the probabilities of all paths."""
    grid = np.zeros(problem.shape(n))
    for p, path in zip(q, oracle.weighted_paths(*problem.lattice(n, d))[1], strict=True):
        for state, row in path:
            grid[(state, row) if d == 0 else (row, state)] += p
    return grid
