"""Recipes: bounds of settings, settings that a model does not use, JSON, and signatures."""

from __future__ import annotations

import contextlib
import json
import re
from dataclasses import asdict, fields, replace

import numpy as np
import pytest
from trained import run

from aligner.cli.recipes import option_of
from aligner.models.kinds import MODELS, Leaving, Limits
from aligner.models.recipe import DIRECTIONS, Recipe
from aligner.models.settings import SETTINGS, UnusedSetting
from aligner.models.stage import Stage

PAIRS = [(name, model) for name, setting in SETTINGS.items() for model in setting.models]
UNUSED = [
    (name, model) for name, setting in SETTINGS.items() for model in MODELS if model not in setting.models
]


def outside(name: str) -> list[float]:
    """Numbers that a setting cannot have, as near to its bounds as can be."""
    setting = SETTINGS[name]
    if setting.whole:
        return [
            int(setting.least) - 1,
            int(setting.most) + 1,
            float("nan"),
            float("inf"),
            setting.least + 0.5,
        ]
    least, most = np.nextafter(setting.least, -np.inf), np.nextafter(setting.most, np.inf)
    return [float(least), float(most), float("nan"), float("inf"), -float("inf")]


def value_of(recipe: Recipe, name: str) -> float:
    """What a recipe has for a setting."""
    last = recipe.last
    if name in ("eta", "slack", "max_calls"):
        return getattr(last.limits, name)
    if name in ("left_out", "smoothing", "evenness", "spelling"):
        return getattr(last.leaving, name)
    if name in ("tension", "skip", "skip_centre") and last.skips is not None:
        return getattr(last.skips, name)
    if name == "tension":
        return last.tension
    if name == "dirichlet":  # loo has no prior in stages of its own
        return next(stage for stage in recipe.stages if not stage.together).dirichlet
    if name in ("iterations", "tension"):
        return getattr(last, name)
    if name in ("ibm1_iterations", "hmm_iterations"):
        family = "ibm1" if name == "ibm1_iterations" else last.family
        return sum(stage.iterations for stage in recipe.stages[:-1] if stage.family == family)
    return getattr(recipe, name)


@pytest.mark.parametrize("name, model", PAIRS)
def test_bounds_are_enforced(name, model):
    setting = SETTINGS[name]
    for value in (setting.least, setting.most):
        recipe = Recipe.of(model, agree=False, **{name: value})
        assert value_of(recipe, name) == value
        assert isinstance(value_of(recipe, name), int if setting.whole else float)
    for value in outside(name):
        with pytest.raises(ValueError, match=rf"^{name} must be a (whole )?number between .*not {value}$"):
            Recipe.of(model, **{name: value})
    assert Recipe.of(model, **{name: None}) == Recipe.of(model)


@pytest.mark.parametrize("name", SETTINGS)
def test_bounds_are_enforced_by_the_options(name, tmp_path, write):
    text = write("src", "a\n"), write("tgt", "b\n")
    command = ["align", *text, "-q", "--model", SETTINGS[name].models[0]]
    for value in outside(name):
        message = run(*command, option_of(name), repr(value), code=2)
        assert f"Invalid value for '{option_of(name)}'" in message
    least = SETTINGS[name].least
    run(*command, option_of(name), repr(int(least) if SETTINGS[name].whole else least))


def test_recipes_that_are_made_by_hand_are_checked_too():
    recipe = Recipe.of("shmm")
    for changes in (
        {"threshold": 1.5}, {"p0": 0.0}, {"window": 18}, {"identical": 0.0}, {"max_length": -1},
        {"stages": ()},
        {"direction": "up"}, {"direction": "forward"}, {"views": ()}, {"views": ("word", "word")},
    ):  # fmt: skip
        with pytest.raises(ValueError):
            replace(recipe, **changes)
    assert replace(recipe, threshold=None).signature()["threshold"] == "auto"


def test_views_that_have_one_lattice_are_six_at_most():
    views = [f"prefix{n}" for n in range(1, 8)]
    for model in MODELS:
        if model != "loo":
            assert Recipe.of(model, views=views).views == tuple(views)
    assert Recipe.of("loo", views=views[:6]).views == tuple(views[:6])
    with pytest.raises(ValueError, match="^loo has at most 6 views, not 7$"):
        Recipe.of("loo", views=views)
    with pytest.raises(ValueError, match="^loo has at most 6 views, not 7$"):
        replace(Recipe.of("loo"), views=views)
    loo, hmm = Recipe.of("loo"), Recipe.of("hmm")
    with pytest.raises(ValueError, match="^hmm has at most 6 views, not 7$"):
        replace(hmm, stages=(*hmm.stages, loo.last), views=views)  # the last stage decides


def test_what_loo_does_unless_told_otherwise():
    recipe = Recipe.of("loo")
    stages = [(s.family, s.objective, s.iterations) for s in recipe.stages]
    model1 = [("ibm1", "likelihood", 1), ("ibm1", "agreement", 3)]
    assert stages == [*model1, ("loo", "likelihood", 1), ("loo", "symmetric", 2)]
    assert recipe.apart == 4 and recipe.last.limits == Limits(eta=0.0005)
    assert recipe.threshold is None and recipe.signature()["threshold"] == "auto"
    given = Recipe.of("loo", threshold=0.25)
    assert given.threshold == 0.25 and given.signature()["threshold"] == "0.25"
    assert SETTINGS["ibm1_iterations"].default is None and SETTINGS["threshold"].default is None
    for name in ("hmm", "bhmm", "shmm", "agree"):
        other = Recipe.of(name)
        assert (other.threshold is None) == (name in ("bhmm", "shmm"))
        assert value_of(other, "ibm1_iterations") == 5


@pytest.mark.parametrize("name, model", UNUSED)
def test_unused_settings_are_refused(name, model, write):
    value = SETTINGS[name].most
    with pytest.raises(
        UnusedSetting, match=f"^{model} does not use {name}; the models that do are "
    ) as error:
        Recipe.of(model, **{name: value})
    assert all(other in str(error.value) for other in SETTINGS[name].models)
    assert isinstance(error.value, ValueError)
    text = write("src", "a\n"), write("tgt", "b\n")
    shown = int(value) if SETTINGS[name].whole else value
    message = run("align", *text, "--model", model, option_of(name), shown, code=2)
    assert f"{option_of(name)} is not for {model}." in message


@pytest.mark.parametrize(
    "model, given, by",
    [
        ("loo", {"constraint": "none", "eta": 0.1}, "loo without a constraint does not use eta"),
        ("loo", {"constraint": "none", "max_calls": 5}, "loo without a constraint does not use max_calls"),
        ("loo", {"ibm1_iterations": 0, "dirichlet": 0.1}, "loo without Model 1 does not use dirichlet"),
        (
            "loo",
            {"iterations": 0, "hmm_iterations": 0, "smoothing": 3},
            "loo without iterations does not use smoothing",
        ),
        (
            "hmm",
            {"agree": True, "direction": "forward"},
            "training in one direction does not use agree",
        ),
        (
            "shmm",
            {"agree": True, "ibm1_iterations": 1},
            "Model 1 with fewer than two iterations does not use agree",
        ),
        ("hmm", {"constraint": "symmetric"}, "hmm does not use constraint; the models that do are loo"),
    ],
)
def test_settings_without_effect_are_refused(model, given, by, write, tmp_path):
    with pytest.raises(UnusedSetting, match=f"^{by}$") as error:
        Recipe.of(model, **given)
    text = write("src", "a\n"), write("tgt", "b\n")
    shown = [[option_of(x)] if value is True else [option_of(x), value] for x, value in given.items()]
    command = ["train", *text, "--model", model, "-o", tmp_path / "m", *(x for pair in shown for x in pair)]
    assert f"{option_of(error.value.setting)} is not for {error.value.by}." in run(*command, code=2)


def test_a_chain_is_that_of_the_last_stage():
    """What text is decoded by. A chain of an earlier stage would do nothing."""
    with pytest.raises(UnusedSetting, match="^hmm does not use chain; the models that do are "):
        Recipe.of(stages="surrogate:1,hmm:1", chain="joint")
    skips = Recipe.of(stages="hmm:1,surrogate:1", chain="joint").last.skips
    assert skips is not None and skips.chain == "joint"


def test_unknown_settings_and_models_are_refused():
    with pytest.raises(ValueError, match="unknown setting 'nonsense'; there are iterations, "):
        Recipe.of(nonsense=1)
    with pytest.raises(ValueError, match="unknown model 'ibm4'; there are loo, ibm1, "):
        Recipe.of("ibm4")


@pytest.mark.parametrize("name", SETTINGS)
def test_help_of_options_is_that_of_the_settings(name):
    text = " ".join(run("align", "--help").partition("Options:")[2].split())
    setting = SETTINGS[name]
    default = "by model" if setting.default is None else f"{setting.default:g}"
    at = text.index(f" {option_of(name)} ")
    assert setting.help in text[at : at + 300]
    users = "" if setting.models == tuple(MODELS) else f"{', '.join(setting.models)}; "
    assert f"[{users}default: {default}" in text[at : at + 300]


def test_help_tells_what_models_do_unless_told_otherwise():
    text = " ".join(run("train", "--help").split())
    for model in ("surrogate", "convex"):
        assert f"{Recipe.of(model).last.skips.smooth} for {model}" in text
    begins = [name for name in MODELS if name != "ibm1" and Recipe.of(name).stages[0].family != "ibm1"]
    assert f"that of {' and '.join(begins)} begins with the model itself" in text
    single = []
    for model in MODELS:
        with contextlib.suppress(ValueError):
            single.append(Recipe.of(model, direction="forward").model)
    assert f"Train one direction only ({', '.join(single)})" in text
    assert Recipe.of("hmm", agree=True) != Recipe.of("hmm") and "of an HMM, the Model 1 that it" in text


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("agree", [None, True, False])
def test_recipes_survive_json(model, agree):
    given = {"views": ["word", "suffix2"], "lowercase": True, "dirichlet": 0.1, "identical": 1 / 3}
    for recipe in (Recipe.of(model), Recipe.of(model, agree=agree, threshold=0.1, **given)):
        again = Recipe.from_dict(json.loads(json.dumps(asdict(recipe))))
        assert again == recipe and again.signature() == recipe.signature()
        assert isinstance(again.views, tuple) and isinstance(again.last, Stage)


def test_recipes_of_older_files():
    """They split words in one way, and their stages have no tension."""
    recipe = Recipe.of("loo")
    saved = json.loads(json.dumps(asdict(recipe)))
    del saved["split"]
    for stage in saved["stages"]:
        del stage["tension"]
    assert Recipe.from_dict(saved) == recipe


def variants() -> list[Recipe]:
    """Recipes that differ from one in one thing each."""
    recipe = Recipe.of("shmm", hmm_iterations=1, dirichlet=0.25)
    last = recipe.last
    found = [recipe]
    changes: dict[str, list] = {
        "model": ["bhmm"], "views": [("word",), ("prefix3", "word", "prefix5")], "lowercase": [True],
            "split": ["unicode"],
        "threshold": [0.5, 0.4000001], "p0": [0.3, 0.20000001], "window": [6], "classes": [10],
            "identical": [4.0, 5.00000001],
        "max_length": [9, 1234567, 1234568], "prune": [0.01, 0.010000001], "direction": [], "stages": [],
    }  # fmt: skip
    assert changes.keys() == {field.name for field in fields(Recipe)}
    found += [replace(recipe, **{name: value}) for name, values in changes.items() for value in values]
    stages = [
        replace(last, iterations=3), replace(last, objective="bijective"), replace(last, dirichlet=0.0),
        replace(last, dirichlet=0.5), replace(last, objective="agreement"),
        *(replace(last, limits=replace(last.limits, **{field.name: value}))
          for field in fields(Limits)
          for value in ((0.5, 0.5000001) if field.name == "drop" else (7, 12345678, 12345679))),
    ]  # fmt: skip
    found += [replace(recipe, stages=(*recipe.stages[:-1], stage)) for stage in stages]
    found += [replace(recipe, stages=recipe.stages[1:]), replace(recipe, stages=recipe.stages[::-1])]
    loo = Recipe.of("loo")
    found += [loo, *(Recipe.of("loo", threshold=x) for x in (0.0, 0.4))]
    found += [*(Recipe.of("loo", constraint=constraint) for constraint in ("bijective", "none"))]
    found += [
        replace(
            loo, stages=(*loo.stages[:-1], replace(loo.last, leaving=replace(Leaving(), **{x.name: value})))
        )
        for x in fields(Leaving)
        for value in (0.5, 0.5000001)
    ]
    return found + [Recipe.of("hmm", direction=direction) for direction in DIRECTIONS]


def test_signatures_are_of_one_line_and_differ_where_recipes_do():
    recipes = variants()
    assert len(set(recipes)) == len(recipes)
    lines = ["|".join(f"{key}:{value}" for key, value in r.signature().items()) for r in recipes]
    assert all(line.isprintable() and " " not in line for line in lines)
    met: dict[str, Recipe] = {}
    for line, recipe in zip(lines, recipes, strict=True):
        assert line not in met, (recipe, met[line])
        met[line] = recipe


@pytest.mark.parametrize(
    "stage, message",
    [
        (("nope", "likelihood", 1), "unknown family"),
        (("hmm", "nope", 1, Limits()), "unknown objective"),
        (("ibm1", "bijective", 1), "ibm1 has no objective bijective"),
        (("hmm", "bijective", 1), "stages of hmm and loo have limits"),
        (("ibm1", "likelihood", 1, Limits()), "others have none"),
        (("loo", "symmetric", 1, None, 0.0, Leaving()), "stages of hmm and loo have limits"),
        (("loo", "agreement", 1, Limits(), 0.0, Leaving()), "loo has no objective agreement"),
        (("loo", "symmetric", 1, Limits()), "stages of loo say what is left out"),
        (("hmm", "symmetric", 1, Limits(), 0.0, Leaving()), "stages of loo say what is left out"),
        (("loo", "symmetric", 1, Limits(), 0.0, Leaving(left_out=1.5)), "left_out must be"),
        (("loo", "symmetric", 1, Limits(), 0.0, Leaving(smoothing=0.0)), "smoothing must be"),
        (("loo", "symmetric", 1, Limits(), 0.0, Leaving(evenness=float("nan"))), "evenness must be"),
        (("hmm", "likelihood", -1, Limits()), "iterations must be"),
        (("ibm1", "likelihood", 1, None, 1e-10), "dirichlet must be 0 or at least 1e-9"),
        (("hmm", "symmetric", 1, Limits(drop=2.0)), "drop must be a number between 0 and 1"),
        (("hmm", "symmetric", 1, Limits(eta=float("nan"))), "eta must be"),
    ],
)
def test_stages_that_cannot_be_trained_are_refused(stage, message):
    with pytest.raises(ValueError, match=message):
        Stage(*stage)


def test_stages_by_name():
    """Each stage has what is given, else the default of its own model; the default's stages have names."""
    usual = Recipe.of("loo")
    assert Recipe.of(stages="ibm1:1,ibm1-agree:3,loo-plain:1,loo:2") == usual
    recipe = Recipe.of("shmm", stages=" ibm1:5, hmm:2,shmm:2", eta=0.5, dirichlet=0.25)
    assert recipe.model == "shmm" and [stage.name for stage in recipe.stages] == ["ibm1", "hmm", "shmm"]
    assert [stage.iterations for stage in recipe.stages] == [5, 2, 2]
    assert recipe.last.limits.eta == 0.5 and [x.dirichlet for x in recipe.stages] == [0.25] * 3
    assert Recipe.of(stages="hmm:2,ibm1:1").signature()["p0"] == "0.2"  # the HMM's stage has it
    assert "p0" not in Recipe.of(stages="ibm1:1").signature()


@pytest.mark.parametrize(
    "given, message",
    [
        ({"stages": "ibm1:5,nope:2"}, "unknown stage 'nope'; there are loo, ibm1, "),
        ({"stages": ""}, "unknown stage ''"),
        ({"stages": "ibm1"}, "a stage is a name, a colon and a number of iterations, not 'ibm1'"),
        ({"stages": "ibm1:-1"}, "not 'ibm1:-1'"),
        ({"stages": "ibm1:\u0663"}, "not 'ibm1:\u0663'"),
        ({"stages": "ibm1:100001"}, "a stage has at most 100000 iterations, not 100001"),
        ({"stages": "loo:1,ibm1-agree:1"}, "ibm1-agree stands after loo; .* come after those of each view"),
        ({"stages": "ibm1:1", "model": "hmm"}, "the last (stage|of --stages) is of ibm1"),
        ({"stages": "ibm1:1", "iterations": 3}, "(iterations|--iterations is not for)"),
        ({"stages": "ibm1:1", "agree": True}, "(agree|--agree is not for)"),
        ({"stages": "ibm1:1", "p0": 0.1}, "(p0; the models that do are|--p0 is not for)"),
    ],
)
def test_stages_that_cannot_be_are_refused(given, message, write):
    with pytest.raises(ValueError, match=message):
        Recipe.of(**given)
    options = [
        x for name, value in given.items() for x in (option_of(name), *([] if value is True else [value]))
    ]
    shown = " ".join(run("align", write("src", "a\n"), write("tgt", "b\n"), *options, code=2).split())
    assert re.search(message, shown), shown


@pytest.mark.parametrize("stages", [3, b"ibm1:3", ["ibm1:3"], [("ibm1", 3)], [None]])
def test_stages_of_another_type_are_refused(stages):
    with pytest.raises(TypeError, match="stages must be a (list|Step)"):
        Recipe.of(stages=stages)


def test_stages_of_all_views_together_come_last():
    recipe = Recipe.of("loo", threshold=0.4)
    for wrong in (recipe.stages[::-1], (*recipe.stages, recipe.stages[0])):
        with pytest.raises(ValueError, match="come after"):
            replace(recipe, stages=wrong)


def test_one_direction_has_no_joint_stage_at_all():
    recipe = Recipe.of("hmm", direction="forward")
    leaving = Stage("loo", "likelihood", 1, Limits(), leaving=Leaving())
    for joint in (Stage("hmm", "agreement", 1, Limits()), Stage("ibm1", "agreement", 1), leaving):
        called = {"hmm": "agree", "ibm1": "ibm1-agree", "loo": "loo"}[joint.family]
        with pytest.raises(ValueError, match=f"^{called} is a model of both directions"):
            replace(recipe, stages=(joint, *recipe.stages))


def test_signatures_name_the_limits_of_projections_alone():
    """A stage that projects nothing has the same links whatever its limits are."""
    stages = Recipe.of("shmm", hmm_iterations=2).signature()["stages"].split("+")
    assert [stage.partition("(")[0] for stage in stages] == [
        "1xibm1", "4xibm1.agreement", "2xhmm", "2xhmm.symmetric",
    ]  # fmt: skip
    assert ["eta=" in stage for stage in stages] == [False, False, False, True]
