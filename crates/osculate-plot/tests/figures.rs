//! Every figure is written as PNG and SVG, or refused with a reason.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use osculate_plot::{
    Axis, ComparisonFigure, ConvergenceFigure, CorrelationFigure, LineFigure, ParameterProfile,
    PlotError, ProfileFigure, ReferenceSlope, ResidualFigure, Series, TrajectoryFigure, Verdict,
};

/// Path in a directory that belongs to these tests.
fn path(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("figures");
    fs::create_dir_all(&directory).expect("test directory");
    directory.join(name)
}

/// Width, height and share of pixels that are not white.
fn read_png(path: &Path) -> (u32, u32, f64) {
    let mut reader =
        png::Decoder::new(File::open(path).expect("file")).read_info().expect("header");
    let mut pixels = vec![0; reader.output_buffer_size()];
    let info = reader.next_frame(&mut pixels).expect("pixels");
    assert_eq!(info.color_type, png::ColorType::Rgb);
    let inked = pixels.chunks(3).filter(|p| p.iter().any(|channel| *channel < 250)).count();
    (info.width, info.height, inked as f64 / f64::from(info.width * info.height))
}

/// Saves both formats; checks the size and ink of the PNG and the words in the SVG.
fn check(
    name: &str,
    save: impl Fn(&Path) -> Result<(), PlotError>,
    size: Option<(u32, u32)>,
    words: &[&str],
) {
    let bitmap = path(&format!("{name}.png"));
    save(&bitmap).expect("PNG");
    let (width, height, ink) = read_png(&bitmap);
    assert!(size.is_none_or(|size| size == (width, height)), "{name}: {width}×{height}");
    assert!(ink > 0.005 && ink < 0.9, "{name}: {ink} of the pixels are drawn");

    let vector = path(&format!("{name}.svg"));
    save(&vector).expect("SVG");
    let document = fs::read_to_string(&vector).expect("text");
    let declared = format!("<svg width=\"{}\" height=\"{}\"", width / 2, height / 2);
    assert!(document.starts_with(&declared), "{name}: {}", &document[..80]);
    assert!(document.trim_end().ends_with("</svg>"));
    let stray = document.lines().find(|line| line.contains("NaN") || line.contains("inf"));
    assert_eq!(stray, None, "{name}");
    for word in words {
        assert!(document.contains(word), "{name}: no `{word}`");
    }
}

fn line(y: Vec<f64>) -> LineFigure {
    LineFigure {
        title: "Energies & more".into(),
        x: Axis::linear("time", "s"),
        y: Axis::linear("energy", "J"),
        series: vec![Series::line_dots("kinetic", (0..y.len()).map(|i| i as f64).collect(), y)],
        slopes: vec![],
    }
}

fn trajectory(positions: Vec<[f64; 3]>, errors: Vec<f64>) -> TrajectoryFigure {
    TrajectoryFigure {
        title: "Toss 3".into(),
        times: (0..errors.len()).map(|i| i as f64 * 0.01).collect(),
        measured: positions.clone(),
        fitted: positions,
        position_errors: errors.clone(),
        position_unit: "% of width".into(),
        rotation_errors: errors,
    }
}

fn residual(errors: Vec<f64>) -> ResidualFigure {
    ResidualFigure {
        title: "All tosses".into(),
        position_errors: errors.clone(),
        position_unit: "mm".into(),
        rotation_errors: errors,
    }
}

fn profile(losses: Vec<f64>, verdict: Verdict) -> ParameterProfile {
    let values = (0..losses.len()).map(|i| 300.0 * 100f64.powf(i as f64 / 10.0)).collect();
    ParameterProfile {
        axis: Axis::log("stiffness", "N/m"),
        values,
        losses,
        estimate: 3000.0,
        verdict,
        top: None,
    }
}

fn profiles(parameters: Vec<ParameterProfile>) -> ProfileFigure {
    let loss = Axis::linear("loss", "");
    ProfileFigure { title: "Profiles".into(), loss, threshold: Some(0.2), parameters }
}

fn bowl() -> Vec<f64> {
    (-5..=5).map(|i| 0.1 + 0.01 * f64::from(i * i)).collect()
}

fn convergence(starts: Vec<Vec<f64>>) -> ConvergenceFigure {
    ConvergenceFigure { title: "Convergence".into(), loss_label: "loss [m²]".into(), starts }
}

fn correlation(matrix: Vec<Vec<f64>>) -> CorrelationFigure {
    let names = (0..matrix.len()).map(|i| format!("p{i}")).collect();
    CorrelationFigure { title: "Correlation".into(), names, matrix }
}

#[test]
fn every_figure_is_drawn_in_both_formats() {
    let wave: Vec<f64> = (0..80).map(|i| (f64::from(i) * 0.1).sin() + 1.5).collect();
    let size = Some((1800, 1200));
    check(
        "line",
        |p| line(wave.clone()).save(p),
        size,
        &["Energies &amp; more", "time [s]", "energy [J]", "kinetic"],
    );
    let starts = vec![vec![1.0, 0.1, 1e-9], vec![2.0, 0.5]];
    let words = ["Convergence", "iteration", "loss [m²]", "start 1 (best)", "start 2"];
    check("convergence", |p| convergence(starts.clone()).save(p), size, &words);
    let positions: Vec<_> = wave.iter().map(|v| [*v, -v, v * v]).collect();
    let words = [
        "Toss 3",
        "x [m]",
        "z [m]",
        "position error [% of width]",
        "rotation error [deg]",
        "time [s]",
        "measured",
    ];
    check("trajectory", |p| trajectory(positions.clone(), wave.clone()).save(p), None, &words);
    let words = ["All tosses", "mean position error [mm]", "mean rotation error [deg]", "median"];
    check("residual", |p| residual(wave.clone()).save(p), None, &words);
    let matrix = vec![vec![1.0, -0.25], vec![-0.25, 1.0]];
    check(
        "correlation",
        |p| correlation(matrix.clone()).save(p),
        None,
        &["Correlation", "p1", "−0.25"],
    );
}

#[test]
fn profiles_name_their_verdicts() {
    let (lower, upper) = (1000.0, 9000.0);
    let verdicts = [
        (Verdict::Point { lower, upper }, "point"),
        (Verdict::Interval { lower, upper }, "interval"),
        (Verdict::LowerBound(lower), "bound only"),
        (Verdict::UpperBound(upper), "bound only"),
    ];
    for (index, (verdict, label)) in verdicts.into_iter().enumerate() {
        let figure = profiles(vec![profile(bowl(), verdict)]);
        let words = ["Profiles", "stiffness [N/m]", "loss", label];
        check(&format!("profile_{index}"), |p| figure.save(p), None, &words);
    }
    let nine = profiles(vec![profile(bowl(), Verdict::LowerBound(lower)); 9]);
    check("profile_nine", |p| nine.save(p), None, &["bound only"]);
}

/// One loss far above the others made the panel flat.
#[test]
fn far_losses_of_a_profile_are_cut_off_with_a_note() {
    let mut losses = bowl();
    losses[0] = 40.0;
    let verdict = Verdict::Point { lower: 1000.0, upper: 9000.0 };
    let far = ParameterProfile { top: Some(0.35), ..profile(losses, verdict) };
    check("profile_far", |p| profiles(vec![far.clone()]).save(p), None, &["1 above, up to 40"]);
    let near = ParameterProfile { top: Some(0.35), ..profile(bowl(), verdict) };
    profiles(vec![near]).save(&path("profile_near.svg")).expect("SVG");
    let document = fs::read_to_string(path("profile_near.svg")).expect("text");
    assert!(!document.contains("above, up to"));
}

#[test]
fn missing_values_and_constant_data_are_drawn() {
    let nan = f64::NAN;
    let holes = vec![nan, 1.0, 1.0, f64::INFINITY, 1.0, f64::NEG_INFINITY];
    check("holes_line", |p| line(holes.clone()).save(p), None, &[]);
    let positions =
        vec![[1.0, nan, 0.0]; 5].into_iter().chain([[1.0, 2.0, 0.0]]).collect::<Vec<_>>();
    check("holes_trajectory", |p| trajectory(positions.clone(), holes.clone()).save(p), None, &[]);
    check("holes_residual", |p| residual(holes.clone()).save(p), None, &[]);
    check(
        "holes_convergence",
        |p| convergence(vec![holes.clone(), vec![], vec![nan]]).save(p),
        None,
        &[],
    );
    let unbounded = Verdict::Interval { lower: nan, upper: f64::INFINITY };
    check(
        "holes_profile",
        |p| profiles(vec![profile(holes.clone(), unbounded)]).save(p),
        None,
        &[],
    );
    let matrix = vec![vec![1.0, nan], vec![nan, f64::INFINITY]];
    check("holes_correlation", |p| correlation(matrix.clone()).save(p), None, &["–"]);
    for value in [0.0, 1e-9, 1e300, -5e7, 5e-324] {
        check("constant", |p| line(vec![value; 4]).save(p), None, &[]);
        check("constant", |p| residual(vec![value; 4]).save(p), None, &[]);
        check("constant", |p| trajectory(vec![[value; 3]; 4], vec![value; 4]).save(p), None, &[]);
    }
    check("single", |p| line(vec![2.0]).save(p), None, &[]);
}

#[test]
fn figures_with_nothing_to_draw_are_refused() {
    let target = path("empty.png");
    let nan = vec![f64::NAN; 3];
    let refused = [
        line(vec![]).save(&target),
        line(nan.clone()).save(&target),
        LineFigure::default().save(&target),
        trajectory(vec![], vec![]).save(&target),
        trajectory(vec![[0.0; 3]; 3], nan.clone()).save(&target),
        residual(nan.clone()).save(&target),
        profiles(vec![]).save(&target),
        profiles(vec![profile(nan.clone(), Verdict::LowerBound(1.0))]).save(&target),
        correlation(vec![]).save(&target),
        correlation(vec![vec![f64::NAN]]).save(&target),
        convergence(vec![]).save(&target),
        convergence(vec![vec![0.0, -1.0], nan]).save(&target),
    ];
    for (index, result) in refused.into_iter().enumerate() {
        assert!(matches!(result, Err(PlotError::Empty { .. })), "case {index}: {result:?}");
    }
    assert!(!target.exists(), "a refused figure left a file");
}

#[test]
fn wrong_lengths_and_slopes_are_refused() {
    let mut figure = line(vec![1.0, 2.0]);
    figure.series[0].x.pop();
    let result = figure.save(&path("length.svg"));
    assert!(matches!(result, Err(PlotError::LengthMismatch { expected: 1, found: 2, .. })));

    let mut figure = trajectory(vec![[0.0; 3]; 2], vec![1.0; 2]);
    figure.fitted.pop();
    assert!(matches!(figure.save(&path("length.svg")), Err(PlotError::LengthMismatch { .. })));

    let ragged = correlation(vec![vec![1.0, 0.0], vec![1.0]]);
    assert!(matches!(ragged.save(&path("length.svg")), Err(PlotError::LengthMismatch { .. })));

    let mut figure = line(vec![1.0, 2.0]);
    figure.slopes.push(ReferenceSlope { order: 2.0, label: "second order".into() });
    let result = figure.save(&path("slope.svg"));
    assert!(matches!(result, Err(PlotError::SlopeNeedsLogAxes { .. })));
}

#[test]
fn other_extensions_are_refused_with_the_allowed_ones() {
    for name in ["figure.pdf", "figure", "figure.png.gz"] {
        let error = line(vec![1.0]).save(&path(name)).unwrap_err();
        assert!(matches!(error, PlotError::UnknownExtension { .. }), "{error:?}");
        let message = error.to_string();
        assert!(message.contains(".png") && message.contains(".svg"), "{message}");
    }
    line(vec![1.0]).save(&path("CAPITALS.PNG")).unwrap();
}

#[test]
fn unwritable_paths_are_reported() {
    for name in ["no/such/directory/figure.png", "no/such/directory/figure.svg"] {
        let error = line(vec![1.0]).save(&path(name)).unwrap_err();
        assert!(matches!(error, PlotError::Write { .. }), "{error:?}");
        assert!(error.to_string().contains("figure."), "{error}");
    }
}

fn comparison(values: Vec<Vec<f64>>) -> ComparisonFigure {
    ComparisonFigure {
        title: "Defect".into(),
        axis: Axis::log("defect", ""),
        variants: vec!["explicit".into(), "implicit".into()],
        cases: vec!["faded".into(), "not faded".into()],
        values,
        marks: vec![(1e-12, "rounding".into())],
    }
}

#[test]
fn comparison_shows_every_case_variant_and_mark() {
    let figure = comparison(vec![vec![1e-15, 0.3], vec![f64::NAN, 20.0]]);
    let words = ["Defect", "explicit", "implicit", "faded", "not faded", "rounding"];
    check("comparison", |p| figure.save(p), None, &words);
}

#[test]
fn comparison_of_another_shape_or_without_values_is_refused() {
    let refused = |values| comparison(values).save(&path("refused.svg")).is_err();
    assert!(refused(vec![vec![1.0, 2.0]]));
    assert!(refused(vec![vec![1.0], vec![2.0]]));
    assert!(refused(vec![vec![-1.0, f64::NAN], vec![0.0, f64::INFINITY]]));
}
