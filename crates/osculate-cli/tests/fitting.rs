//! `twin`, `fit` and `evaluate` from the outside.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A small experiment on the scene that ships, in a folder of its own.
struct Trial {
    folder: PathBuf,
}

impl Trial {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("osculate-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let scene =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/cube_toss/scene.toml");
        std::fs::copy(scene, folder.join("scene.toml")).unwrap();
        std::fs::write(folder.join("experiment.toml"), EXPERIMENT).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_osculate")).args(arguments).output().unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Replaces a part of the experiment and expects a refusal that says these words.
    fn refused(&self, from: &str, to: &str, words: &[&str]) {
        assert!(EXPERIMENT.contains(from), "{from}");
        std::fs::write(self.folder.join("bad.toml"), EXPERIMENT.replacen(from, to, 1)).unwrap();
        let output = self.run(&["fit", &self.path("bad.toml"), "--out", &self.path("bad")]);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{from} → {to}: {message}");
        for word in words {
            assert!(message.contains(word), "{from} → {to}: '{word}' is not in: {message}");
        }
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

const EXPERIMENT: &str = r#"
scene = "scene.toml"
body = "cube"
data = "twin"
substeps = 5

[[parameter]]
path = "pair.cube.ground.mu"
range = [0.02, 1.0]
start = [0.1, 0.3]

[[parameter]]
path = "pair.cube.ground.c_n"
range = [0.1, 50.0]
start = [1.0, 4.0]

[[stage]]
frames = 12

[multistart]
starts = 2
seed = 3

[profile]
points = 2
iterations = 1

[twin]
tosses = 6
frames = 24
rate_hz = 148.0
seed = 5
position_noise = 0.0002
rotation_noise_deg = 0.1
height = [0.10, 0.12]
speed = [0.3, 1.0]
fall = [0.4, 0.8]
spin = [1.0, 5.0]
"#;

#[test]
fn fit_of_a_twin_finds_its_parameters_whatever_the_number_of_threads() {
    let t = Trial::new("fit");
    let experiment = t.path("experiment.toml");
    let twin = t.json(&["--json", "twin", &experiment]);
    assert_eq!(twin["parameters"]["pair.cube.ground.mu"], 0.18);
    let mut reports = Vec::new();
    for threads in ["1", "2"] {
        let out = t.path(threads);
        t.json(&["--json", "fit", &experiment, "--out", &out, "--threads", threads]);
        reports.push(std::fs::read_to_string(Path::new(&out).join("report.json")).unwrap());
        for name in ["summary.txt", "figures/convergence.png", "figures/profiles.svg"] {
            assert!(std::fs::metadata(Path::new(&out).join(name)).unwrap().len() > 100, "{name}");
        }
    }
    assert_eq!(reports[0], reports[1], "the report depends on the number of threads");
    let report: Value = serde_json::from_str(&reports[0]).unwrap();
    for (i, truth) in [0.18, 2.0].into_iter().enumerate() {
        let best = report["parameters"][i]["best"].as_f64().unwrap();
        assert!((best / truth).ln().abs() < 0.1, "{best} for {truth}");
        // What its derivatives are good for, toss by toss.
        let trust = &report["parameters"][i]["trust"];
        assert_eq!(trust["tosses"].as_array().unwrap().len(), 3);
        assert!(trust["verdict"].is_string(), "{trust}");
        let summary = std::fs::read_to_string(Path::new(&t.path("1")).join("summary.txt")).unwrap();
        assert!(summary.contains(trust["statement"].as_str().unwrap()), "{summary}");
    }
    let params = Path::new(&t.path("1")).join("report.json").display().to_string();
    let judged = t.json(&["--json", "evaluate", &experiment, "--params", &params]);
    assert_eq!(judged["tosses"].as_array().unwrap().len(), 6, "every toss of the metadata");
    for statistic in ["mean", "std", "median"] {
        assert!(judged["position_error_percent"][statistic].is_f64());
        assert!(judged["rotation_error_deg"][statistic].is_f64());
    }
    assert!(judged["loss"].as_f64().unwrap() < 0.1);
}

/// The bundled recordings are of a cube 1.04 times as large as the scene's, with edges of 8 and not 5 mm.
#[test]
fn size_and_edge_radius_of_the_tossed_cube_are_found_within_three_standard_errors() {
    let t = Trial::new("shape");
    let experiment =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/shape/experiment.toml");
    let experiment = experiment.display().to_string();
    t.json(&["--json", "fit", &experiment, "--out", &t.path("out"), "--no-figures"]);
    let report = std::fs::read_to_string(Path::new(&t.path("out")).join("report.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    for (i, (path, truth)) in
        [("cube.scale", 1.04), ("cube.edge_radius", 0.008)].into_iter().enumerate()
    {
        let found = &report["parameters"][i];
        assert_eq!(found["path"], path);
        assert_eq!(found["verdict"]["kind"], "point");
        let number = |name: &str| found[name].as_f64().unwrap();
        let error = (number("best") - truth).abs();
        assert!(error < 3.0 * number("standard_error"), "{path}: {error}");
        assert!(number("standard_error") < 3e-3 * truth, "{path} is not known well");
    }
}

/// The bundled recordings have poses of the first box and angles of the hinge; positions and rates of three joints.
#[test]
fn bundled_twins_of_channels_are_fitted_near_their_truth() {
    let t = Trial::new("channels");
    for (name, close) in
        [("elbow_toss", "pair.first.ground.mu"), ("planar_drop", "pair.square.ground.mu")]
    {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments").join(name);
        let experiment = folder.join("twin.toml").display().to_string();
        let out = t.path(name);
        t.json(&["--json", "fit", &experiment, "--out", &out, "--no-figures"]);
        let report = std::fs::read_to_string(Path::new(&out).join("report.json")).unwrap();
        let report: Value = serde_json::from_str(&report).unwrap();
        let truth = std::fs::read_to_string(folder.join("twin/twin.json")).unwrap();
        let truth: Value = serde_json::from_str(&truth).unwrap();
        let parameters = report["parameters"].as_array().unwrap();
        let found =
            parameters.iter().find(|p| p["path"] == close).unwrap()["best"].as_f64().unwrap();
        let exact = truth["parameters"][close].as_f64().unwrap();
        assert!((found / exact - 1.0).abs() < 0.05, "{name}: {found} for {exact}");
        assert!(report["doubts"].is_null(), "{name}: {}", report["doubts"]);
    }
}

/// Profiles that an interrupt cut short looked final, and the exit code was 0. The profiles here would take hours.
#[cfg(unix)]
#[test]
fn an_interrupted_fit_marks_unfinished_profiles_and_ends_with_130() {
    let t = Trial::new("interrupted");
    t.json(&["--json", "twin", &t.path("experiment.toml")]);
    let long = EXPERIMENT.replace("points = 2\niterations = 1", "points = 100000\niterations = 50");
    std::fs::write(t.folder.join("long.toml"), long).unwrap();
    let out = t.path("out");
    let fit = Command::new(env!("CARGO_BIN_EXE_osculate"))
        .args(["--json", "fit", &t.path("long.toml"), "--out", &out, "--no-figures"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // The handler is set right after the folder is made.
    while !Path::new(&out).exists() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    std::thread::sleep(std::time::Duration::from_secs(2));
    let sent = Command::new("kill").args(["-INT", &fit.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let output = fit.wait_with_output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(130), "{message}");
    assert!(message.contains("interrupted"), "{message}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    for parameter in document["report"]["parameters"].as_array().unwrap() {
        let statement = parameter["statement"].as_str().unwrap();
        assert!(statement.ends_with("(profile not finished)"), "{statement}");
        assert!(parameter["estimate"].is_null() && parameter["verdict"].is_null(), "{parameter}");
    }
    let summary = std::fs::read_to_string(Path::new(&out).join("summary.txt")).unwrap();
    assert!(summary.contains("(profile not finished)"), "{summary}");
}

#[test]
fn same_seed_gives_the_same_twin_and_another_seed_another() {
    let t = Trial::new("twin");
    let experiment = t.path("experiment.toml");
    let read = |folder: &str| {
        std::fs::read(Path::new(&t.path(folder)).join("tosses/toss_003.csv")).unwrap()
    };
    for (folder, seed) in [("a", "5"), ("b", "5"), ("c", "6")] {
        t.json(&["--json", "twin", &experiment, "--out", &t.path(folder), "--seed", seed]);
    }
    assert_eq!(read("a"), read("b"));
    assert_ne!(read("a"), read("c"));
    let again = t.run(&["twin", &experiment, "--out", &t.path("a")]);
    assert_eq!(again.status.code(), Some(2), "a folder with data is not overwritten unasked");
}

/// Symptom: roll-outs of experiments continue after a failed stage, and such twins were written without a word.
#[test]
fn unconverged_stages_of_a_twin_are_counted() {
    let t = Trial::new("unconverged-twin");
    let experiment = t.path("experiment.toml");
    let twin = t.json(&["--json", "twin", &experiment, "--out", &t.path("good")]);
    assert_eq!(twin["unconverged_stages"], 0);
    let scene = std::fs::read_to_string(t.path("scene.toml")).unwrap();
    let lax =
        scene.replacen("[solver]\n", "[solver]\niterations = 1\non_failure = \"continue\"\n", 1);
    std::fs::write(t.path("scene.toml"), lax).unwrap();
    let twin = t.json(&["--json", "twin", &experiment, "--out", &t.path("bad")]);
    assert!(twin["unconverged_stages"].as_u64().unwrap() > 0, "{twin}");
}

#[test]
fn wrong_experiments_are_refused_with_file_field_value_and_what_is_allowed() {
    let t = Trial::new("wrong");
    t.json(&["--json", "twin", &t.path("experiment.toml")]);
    t.refused("substeps = 5", "substeps = 0", &["bad.toml:5", "substeps", "0", "1 to"]);
    t.refused("substeps = 5", "substep = 5", &["bad.toml", "line 5", "substep"]);
    t.refused("body = \"cube\"", "body = \"cub\"", &["bad.toml:3: body", "'cub'", "ground, cube"]);
    t.refused(
        "pair.cube.ground.mu",
        "pair.cube.ground.mew",
        &["bad.toml:8: parameter[0].path", "mew", "close names"],
    );
    t.refused("[0.02, 1.0]", "[0.0, 1.0]", &[":9", "pair.cube.ground.mu", "range", "0 < low"]);
    t.refused("[0.1, 0.3]", "[0.1, 3.0]", &[":10", "start", "inside the range"]);
    t.refused("starts = 2", "starts = 0", &[":21", "multistart.starts", "0"]);
    t.refused("frames = 12", "frames = 0", &[":18", "stage[0].frames", ">= 1"]);
    t.refused("rate_hz = 148.0", "rate_hz = -1.0", &[":31", "twin.rate_hz", "-1", "> 0"]);
    let held = "profile_only = true\n\n[[stage]]\nfree = [\"pair.cube.ground.c_n\"]";
    let words = [":19: stage[0].free", "'pair.cube.ground.c_n'", "profile_only = true"];
    t.refused("\n[[stage]]", held, &words);
    let many = "[trust]\ngrids = 14\n\n[multistart]";
    t.refused("[multistart]", many, &[":21: trust.grids", "14", "1 to 13"]);
    let prior = "[initial_state]\nvelocity_sigma = 0.1\n\n[multistart]";
    t.refused("[multistart]", prior, &[":20", "initial_state", "baseline", "noise"]);
    let stage = "frames = 12\nalgorithm = \"response-surface\"\npoints = 7";
    t.refused("frames = 12", stage, &[":20", "stage[0].points", "7", "11 to"]);
    t.refused("frames = 12", "points = 7", &[":18", "stage[0].points", "response-surface"]);
    t.refused("data = \"twin\"", "data = \"nowhere\"", &["nowhere"]);
    t.refused("scene = \"scene.toml\"", "scene = \"none.toml\"", &[":2: scene", "none.toml"]);
    t.refused("range = [0.1, 50.0]", "range = [0.1, nan]", &["ground.c_n", "NaN", "0 < low"]);
    t.refused("points = 2", "tosses = 0", &[":25: profile.tosses", "0", "2 to"]);
}

#[test]
fn a_part_without_tosses_is_refused_with_what_there_is() {
    let t = Trial::new("empty");
    let experiment = t.path("experiment.toml");
    t.json(&["--json", "twin", &experiment]);
    std::fs::write(
        t.folder.join("report.json"),
        r#"{"parameters": [{"path": "pair.cube.ground.mu", "best": 0.2},
            {"path": "pair.cube.ground.c_n", "best": 2.0}]}"#,
    )
    .unwrap();
    let report = t.path("report.json");
    let output = t.run(&["evaluate", &experiment, "--params", &report, "--part", "test"]);
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    for word in ["split.json", "test has no tosses", "4 in train, 2 in valid, 0 in test"] {
        assert!(message.contains(word), "'{word}' is not in: {message}");
    }
}

#[test]
fn a_response_surface_finds_the_parameters_of_a_twin_and_reports_its_errors() {
    let t = Trial::new("surface");
    let stage =
        "frames = 12\n\n[[stage]]\nalgorithm = \"response-surface\"\npoints = 16\nrounds = 4";
    std::fs::write(t.folder.join("surface.toml"), EXPERIMENT.replacen("frames = 12", stage, 1))
        .unwrap();
    let experiment = t.path("surface.toml");
    t.json(&["--json", "twin", &experiment]);
    let out = t.path("out");
    let fitted = t.json(&["--json", "fit", &experiment, "--out", &out, "--no-figures"]);
    let report = &fitted["report"];
    for (i, truth) in [0.18, 2.0].into_iter().enumerate() {
        let parameter = &report["parameters"][i];
        let best = parameter["best"].as_f64().unwrap();
        assert!((best / truth).ln().abs() < 0.1, "{best} for {truth}");
        assert!(parameter["surface_standard_error"].as_f64().unwrap() > 0.0);
    }
    let smooth = |i: usize| report["starts"][i]["surface"]["loss"].as_f64().unwrap();
    let best = report["best_start"].as_u64().unwrap() as usize;
    assert!(smooth(best) <= smooth(1 - best), "starts are compared by their smooth losses");
    let summary = std::fs::read_to_string(Path::new(&out).join("summary.txt")).unwrap();
    assert!(summary.contains("smooth loss") && summary.contains("from the scatter"), "{summary}");
}

#[test]
fn exact_jacobians_need_fewer_evaluations_than_differences_and_far_fewer_than_a_search() {
    let t = Trial::new("compare");
    let experiment = t.path("experiment.toml");
    t.json(&["--json", "twin", &experiment]);
    let out = t.path("out");
    let fitted = t.json(&["--json", "fit", &experiment, "--out", &out, "--compare"]);
    let needed = fitted["comparison"]["needed"].as_array().unwrap();
    let evaluations = |solver: &str| -> f64 {
        let of = needed.iter().find(|n| n["solver"] == solver).unwrap();
        assert!(of["starts_reached"].as_u64().unwrap() > 0, "{of}");
        of["evaluations"].as_f64().unwrap()
    };
    let exact = evaluations("levenberg-marquardt");
    let (differences, search) =
        (evaluations("levenberg-marquardt-differences"), evaluations("cma-es"));
    // Two parameters: two evaluations more for each Jacobian. A search fills a volume.
    assert!(differences > 1.5 * exact, "{differences} for {exact}");
    assert!(search > 8.0 * exact, "{search} for {exact}");
    let csv = std::fs::read_to_string(Path::new(&out).join("comparison.csv")).unwrap();
    assert!(csv.starts_with("solver,start,evaluations,jacobians,cpu_s,loss\n"), "{csv}");
    for name in ["comparison_evaluations.svg", "comparison_cpu.png"] {
        assert!(std::fs::metadata(Path::new(&out).join("figures").join(name)).unwrap().len() > 100);
    }
    let refused = t.run(&["fit", &experiment, "--out", &out, "--compare", "2"]);
    let message = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{message}");
    assert!(message.contains("--compare is '2'"), "{message}");
}

#[test]
fn parameters_of_a_scene_and_of_an_experiment_are_listed_alike() {
    let t = Trial::new("parameters");
    let of_scene = t.json(&["--json", "parameters", &t.path("scene.toml")]);
    // Nothing but the scene of an experiment need be right.
    std::fs::write(t.folder.join("half.toml"), "scene = \"scene.toml\"\nsubsteps = 0").unwrap();
    let of_experiment = t.json(&["--json", "parameters", &t.path("half.toml")]);
    assert_eq!(of_scene, of_experiment);
    let listed = of_scene["parameters"].as_array().unwrap();
    let find = |path: &str| listed.iter().find(|p| p["path"] == path).unwrap();
    assert_eq!(find("pair.cube.ground.mu")["value"], 0.18);
    assert_eq!(find("pair.cube.ground.k")["unit"], "Pa/m");
    let text = t.run(&["parameters", &t.path("scene.toml")]).stdout;
    assert!(String::from_utf8_lossy(&text).contains("pair.cube.ground.c_n"));
}

#[test]
fn parameters_from_a_wrong_report_are_refused() {
    let t = Trial::new("report");
    let experiment = t.path("experiment.toml");
    t.json(&["--json", "twin", &experiment]);
    let judge = |text: &str| {
        std::fs::write(t.folder.join("report.json"), text).unwrap();
        let output = t.run(&["evaluate", &experiment, "--params", &t.path("report.json")]);
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(judge("{").contains("report.json"));
    let field = judge(r#"{"parameters": [{"path": "pair.cube.ground.mu", "best": "x"}]}"#);
    assert!(field.contains("line 1, column 59: `parameters[0].best`: invalid type"), "{field}");
    let missing = judge(r#"{"parameters": [{"path": "pair.cube.ground.mu", "best": 0.2}]}"#);
    assert!(missing.contains("pair.cube.ground.c_n"), "{missing}");
    let outside = judge(
        r#"{"parameters": [{"path": "pair.cube.ground.mu", "best": 7.0},
            {"path": "pair.cube.ground.c_n", "best": 2.0}]}"#,
    );
    assert!(outside.contains('7') && outside.contains("[0.02, 1]"), "{outside}");
    let set = t.run(&["evaluate", &experiment, "--set", "pair.cube.ground.mu=7"]);
    assert!(
        String::from_utf8_lossy(&set.stderr).contains("mu is 7, allowed: a number in [0.02, 1]")
    );
}
