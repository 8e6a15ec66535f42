//! Form, names, time grid.

use super::check;

#[test]
fn unknown_fields_words_and_types_are_refused() {
    check(&[
        (
            "k = 1e9",
            "kk = 1e9",
            16,
            "actor[1].contact.kk:",
            &["`kk`", "unknown field", "expected one of `k`"],
        ),
        ("gravity = [0", "gravitiy = [0", 1, "gravitiy:", &["unknown field", "`gravity`"]),
        (
            "dt = 0.001",
            "dt = 0.001\nmethod = 'euler'",
            4,
            "solver.method:",
            &["euler", "`backward-euler`, `bdf2`"],
        ),
        ("dt = 0.001", "dt = 'fast'", 3, "solver.dt:", &["fast", "expected f64"]),
        ("steps = 4", "steps = -4", 4, "solver.steps:", &["-4", "expected usize"]),
        ("steps = 4", "steps = 4.5", 4, "solver.steps:", &["4.5", "expected usize"]),
    ]);
}

#[test]
fn unknown_words_and_tables_of_an_actor_are_refused() {
    check(&[
        (
            "mass = 0.4",
            "mass = 0.4\nquadrature = 'P2'",
            12,
            "actor[1].quadrature:",
            &["P2", "`P1Q3`"],
        ),
        ("shape.box", "shape.ball", 12, "actor[1].shape.ball:", &["ball", "`icosphere`"]),
        (
            "shape.plane = { normal",
            "shape.plane = { radius",
            8,
            "actor[0].shape.plane.radius:",
            &["unknown field", "`normal`"],
        ),
        (
            "mass = 0.4",
            "mass = 0.4\ncollider = 'cube'",
            12,
            "actor[1].collider:",
            &["cube", "`point-cloud`"],
        ),
        (
            "mass = 0.4",
            "mass = 0.4\ncollider = 3",
            12,
            "actor[1].collider:",
            &["`3`", "table with one of plane"],
        ),
        (
            "mass = 0.4",
            "mass = 0.4\ncollider = {}",
            12,
            "actor[1].collider:",
            &["empty table", "plane, sphere, box"],
        ),
        (
            "mass = 0.4",
            "mass = 0.4\nsamples = 'some'",
            12,
            "actor[1].samples:",
            &["some", "`none`"],
        ),
        (
            "{ half_extents = [0.05, 0.05, 0.05] }",
            "{}",
            12,
            "actor[1].shape.box:",
            &["missing field `half_extents`"],
        ),
    ]);
}

#[test]
fn text_that_is_not_toml_is_refused_with_its_line() {
    check(&[
        ("static = true", "static = yes", 7, "found `static = yes`", &["not TOML"]),
        ("steps = 4", "steps = 4\nsteps = 5", 5, "found `steps = 5`", &["duplicate key"]),
        ("[[actor]]\nname = \"cube\"", "[[actor\nname = 1", 9, "found `[[actor`", &["not TOML"]),
    ]);
}

#[test]
fn names_that_are_missing_twice_or_unknown_are_refused() {
    let end = "k = 1e9";
    let known = "allowed: ground, cube";
    check(&[
        (
            "name = \"cube\"",
            "name = \"ground\"",
            10,
            "actor[1].name:",
            &["'ground'", "other than that of actor[0]"],
        ),
        ("name = \"cube\"", "name = \"a.b\"", 10, "actor[1].name:", &["a.b", "letters, digits"]),
        ("name = \"cube\"", "", 9, "actor[1].name:", &["\"\"", "letters, digits"]),
        (
            end,
            "[[pair]]\nactors = ['cube', 'flor']\nmu = 1",
            17,
            "pair[0].actors[1]:",
            &["'flor'", known],
        ),
        (
            end,
            "[[pair]]\nactors = ['cube', 'cube']\nmu = 1",
            17,
            "pair[0].actors:",
            &["cube", "two actors"],
        ),
        (
            end,
            "[[pair]]\nactors = ['cube', 'ground']",
            16,
            "pair[0]:",
            &["no value", "at least one of k"],
        ),
        (
            end,
            "[[pair]]\nactors = ['cube', 'ground']\nv_f = 0",
            18,
            "pair[0].v_f:",
            &["v_f is 0", "> 0"],
        ),
    ]);
}

#[test]
fn wrenches_outcomes_and_pairs_of_unknown_actors_are_refused() {
    let end = "k = 1e9";
    let known = "allowed: ground, cube";
    check(&[
        (end, "[[wrench]]\nactor = 'cub'", 17, "wrench[0].actor:", &["'cub'", known]),
        (
            end,
            "[[wrench]]\nactor = 'ground'",
            17,
            "wrench[0].actor:",
            &["static", "a dynamic actor"],
        ),
        (end, "[[outcome]]\nactor = 'x'\nspeed = 1", 17, "outcome[0].actor:", &["'x'", known]),
        (
            end,
            "[[outcome]]\nactor = 'cube'",
            16,
            "outcome[0]:",
            &["no weights", "at least one of position"],
        ),
        (
            end,
            "[[outcome]]\nactor = 'cube'\nstep = 5\nspeed = 1",
            18,
            "outcome[0].step:",
            &["5", "0 to 4"],
        ),
        ("gravity = [0, 0, -9.81]", "only = [['cube', 'x']]", 1, "only[0][1]:", &["'x'", known]),
        (
            "gravity = [0, 0, -9.81]",
            "only = [['ground', 'cube']]",
            1,
            "only[0]:",
            &["ground", "the first with samples"],
        ),
        (
            "gravity = [0, 0, -9.81]",
            "only = []\ndisable = [['cube', 'ground']]",
            2,
            "disable:",
            &["beside only", "one of them"],
        ),
        (
            "gravity = [0, 0, -9.81]",
            "disable = [['cube', 'cube']]",
            1,
            "disable[0]:",
            &["cube", "two actors"],
        ),
    ]);
}

#[test]
fn time_grids_that_do_not_advance_are_refused() {
    let steps = "dt = 0.001\nsteps = 4";
    check(&[
        ("dt = 0.001", "dt = 0", 3, "solver.dt:", &["0 s", "> 0 s"]),
        ("dt = 0.001", "dt = -0.1", 3, "solver.dt:", &["-0.1 s", "> 0 s"]),
        ("steps = 4", "steps = 0", 4, "solver.steps:", &["0", "1 to 10000000"]),
        (
            "steps = 4",
            "steps = 100000000000",
            4,
            "solver.steps:",
            &["100000000000", "1 to 10000000"],
        ),
        (
            "steps = 4",
            "duration = 0.0105",
            4,
            "solver.duration:",
            &["10.5 steps", "a whole number"],
        ),
        (
            "steps = 4",
            "duration = 1e12",
            4,
            "solver.duration:",
            &["steps of 0.001 s", "1 to 10000000"],
        ),
        ("steps = 4", "", 3, "solver.dt:", &["dt alone", "two of dt, steps and duration"]),
        (steps, "", 2, "solver:", &["no time grid", "two of dt"]),
        (steps, "steps_s = []", 3, "solver.steps_s:", &["0", "1 to 10000000"]),
        (steps, "steps_s = [0.1, 0.0]", 3, "solver.steps_s[1]:", &["0 s", "> 0 s"]),
        ("steps = 4", "steps_s = [0.1]", 4, "solver.steps_s:", &["beside dt", "steps_s alone"]),
        ("steps = 4", "steps = 4\ntolerance = 0", 5, "solver.tolerance:", &["0", "> 0 and < 1"]),
        ("steps = 4", "steps = 4\niterations = 0", 5, "solver.iterations:", &["0", "1 to 100000"]),
        ("steps = 4", "steps = 4\nhalvings = 61", 5, "solver.halvings:", &["61", "0 to 60"]),
    ]);
}

#[test]
fn undefined_schedule_and_two_forms_at_once_are_refused() {
    let flags = "steps = 4\nexplicit_normals = true\nimplicit_normal_force = true";
    let both = "steps = 4\nschedule = 'current'\nexplicit_normals = false";
    check(&[
        ("steps = 4", flags, 5, "solver.explicit_normals:", &["explicit normals with", "allowed"]),
        (
            "steps = 4",
            both,
            5,
            "solver.schedule:",
            &["beside explicit_normals", "allowed: schedule, or"],
        ),
    ]);
}

#[test]
fn unknown_update_of_rotations_and_one_that_has_no_initial_rate_are_refused() {
    let unknown = "steps = 4\nrotation = 'quaternion'";
    let rate = "steps = 4\nrotation = 'chart'\ninitial_rate = 'first-step'";
    check(&[
        ("steps = 4", unknown, 5, "solver.rotation:", &["quaternion", "`rate-tensor` or `chart`"]),
        ("steps = 4", rate, 6, "solver.initial_rate:", &["first-step", "skew with rotation"]),
    ]);
}

#[test]
fn filters_of_unknown_layers_and_actors_and_circular_nesting_are_refused() {
    let filter = |lines: &str| format!("k = 1e9\n[[filter]]\n{lines}");
    let layer = filter("layers = ['robot', 'default']\nenable = false");
    let actor = filter("actors = ['cube', 'cub']\nenable = false");
    let both =
        filter("actors = ['cube', 'ground']\nlayers = ['default', 'default']\nenable = false");
    let nested = filter("layers = ['default', 'default']\nenable = false\nnested = true");
    check(&[
        ("k = 1e9", &layer, 17, "filter[0]:", &["'robot'", "there are: default"]),
        ("k = 1e9", &actor, 18, "filter[0].actors[1]:", &["cub", "ground, cube"]),
        ("k = 1e9", &both, 17, "filter[0]:", &["layers and actors", "either"]),
        ("k = 1e9", &nested, 20, "filter[0].nested:", &["true", "no nested actors"]),
        (
            "mass = 0.4",
            "mass = 0.4\nparent = 'cube'",
            12,
            "actor[1].parent:",
            &["nested in itself"],
        ),
        ("mass = 0.4", "mass = 0.4\nlayer = ''", 12, "actor[1].layer:", &["a name"]),
    ]);
}
