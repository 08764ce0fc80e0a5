"""What posteriors are projected onto when text is decoded, whatever the model was trained with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from problems import TIGHT, Problem, random_problem
from projections import enumerated, links_of, solved
from trained import generated, recipe_of, same
from trained import links_of as links_of_model

from aligner import DataError, Model, Recipe, train
from aligner.decoding.posteriors import PROJECTIONS, directions
from aligner.models.kinds import CONSTRAINTS, HMMS, MODELS
from aligner.models.lexicon import Lexicon
from aligner.models.parameters import Parameters, View

SLACK = MODELS["shmm"].limits.slack
PAIRS = [(2, 3), (3, 2), (1, 4), (3, 1)]


@pytest.fixture(scope="module")
def text():
    return generated().part(0, 60)


@pytest.fixture(scope="module")
def models(text) -> dict[str, Model]:
    short = {"iterations": 1, "ibm1_iterations": 2, "views": ["word", "prefix3"]}
    return {name: train(text, recipe_of(name, **short)) for name in HMMS}


def decoded(problem: Problem, project: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """[I, J] of each sentence pair, forward and reverse, as an HMM that was trained without projection."""
    recipe = Recipe.of("hmm", views=["word"])
    limits = replace(recipe.last.limits, **TIGHT)
    recipe = replace(recipe, stages=(*recipe.stages[:-1], replace(recipe.last, limits=limits)))
    m, seen = problem.m, problem.seen
    tables = {name: getattr(m.lexicon, name).astype(np.float32) for name in ("t", "null_fwd", "null_rev")}
    parameters = Parameters(Lexicon(m.lexicon.rows, m.lexicon.tgt, **tables), m.positions)
    view = View("word", seen.text.src.vocab, seen.text.tgt.vocab, parameters)
    ((forward, reverse),) = directions([view], recipe, seen.text, seen=[seen], project=project)
    found = []
    for n in range(len(problem)):
        grids = [np.zeros(problem.shape(n)) for _ in range(2)]
        for grid, links in zip(grids, (forward, reverse), strict=True):
            for i, j, score in links.part(n, n + 1).scored()[0]:
                grid[i, j] = score
        found.append((grids[0], grids[1]))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_posteriors_of_any_hmm_are_projected_as_enumeration_projects_them(seed):
    """Of all paths of each lattice. Posteriors of up to 0.001 are not kept."""
    problem = random_problem(np.random.default_rng(seed), PAIRS, 2)
    found = {project: decoded(problem, project) for project in ("none", "both", *CONSTRAINTS)}
    changes = []
    for n in range(len(problem)):
        exact = {}
        for constraint in CONSTRAINTS:
            dual, bounds = enumerated(problem, n, constraint, SLACK)
            q = dual.posteriors(solved(dual, bounds))
            exact[constraint] = [links_of(problem, n, d, q[d]) for d in range(2)]
        for d in range(2):
            for constraint in CONSTRAINTS:
                np.testing.assert_allclose(found[constraint][n][d], exact[constraint][d], rtol=0, atol=1.5e-3)
            mean = sum(exact[constraint][d] for constraint in CONSTRAINTS) / 2
            np.testing.assert_allclose(found["both"][n][d], mean, rtol=0, atol=1.5e-3)
            plain = problem.enumerated(n, d)["gamma"]
            plain = np.array(plain)[:, : problem.shape(n)[d]]
            np.testing.assert_allclose(found["none"][n][d], plain.T if d == 0 else plain, rtol=0, atol=1.5e-3)
            changes.append(np.abs(found["symmetric"][n][d] - found["bijective"][n][d]).max())
    assert max(changes) > 0.05  # the two constraints do not say the same


@pytest.mark.parametrize("name", HMMS)
def test_the_mean_of_two_projections_is_of_every_posterior(name, models, text):
    found = {x: links_of_model(models[name], text, project=x) for x in PROJECTIONS}
    for d in range(2):
        grids = {}
        for project, both in found.items():
            grids[project] = np.zeros((len(text), 80, 80))
            grids[project][both[d].sentences, both[d].src, both[d].tgt] = both[d].scores
        mean = (grids["symmetric"] + grids["bijective"]) / 2
        np.testing.assert_allclose(grids["both"], mean, rtol=0, atol=1.1e-3)
        kept = grids["both"] > 0.01
        np.testing.assert_allclose(grids["both"][kept], mean[kept], rtol=0, atol=6e-4)
        assert np.abs(grids["both"] - grids["none"]).max() > 0.01


@pytest.mark.parametrize("name", HMMS)
def test_what_a_model_was_trained_with_is_one_of_the_projections(name, models, text):
    model = models[name]
    onto = model.recipe.last.objective if model.recipe.last.constrained else "none"
    for project in ("none", *CONSTRAINTS):
        trained, found = (links_of_model(model, text, project=x) for x in ("trained", project))
        assert all(map(same, trained, found)) == (project == onto)
    assert same(model.align(text), model.align(text, project=onto))


def test_models_without_two_lattices_are_refused(text):
    forward = train(text, Recipe.of("hmm", direction="forward", iterations=1, views=["word"]))
    ibm1 = train(text, Recipe.of("ibm1", iterations=1, views=["word"]))
    for model, told in ((forward, "hmm, trained forward only"), (ibm1, "ibm1")):
        for project in ("both", *CONSTRAINTS):
            with pytest.raises(DataError, match=f"for HMMs of both directions; this model is {told};"):
                model.align(text, project=project)
        assert same(model.align(text, project="none"), model.align(text))
    with pytest.raises(ValueError, match="unknown project 'half'; there are trained, bijective"):
        ibm1.align(text, project="half")
