//! Renders every figure, easy and hard cases, as PNG and SVG into the directory given as argument:
//! `cargo run --release -p osculate-plot --example gallery -- figures`.

use std::error::Error;
use std::f64::consts::PI;
use std::path::Path;

use osculate_plot::{
    Axis, AxisScale, ConvergenceFigure, CorrelationFigure, LineFigure, ParameterProfile, PlotError,
    ProfileFigure, ReferenceSlope, ResidualFigure, Series, TrajectoryFigure, Verdict,
};

/// Reproducible numbers, uniform in 0..1 and normal (sum of twelve).
struct Noise(u64);

impl Noise {
    fn uniform(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args().nth(1).ok_or("usage: gallery DIRECTORY")?;
    let directory = Path::new(&directory);
    std::fs::create_dir_all(directory)?;
    for extension in ["png", "svg"] {
        let path = |name: &str| directory.join(name).with_extension(extension);
        trajectories(&path)?;
        residuals(&path)?;
        profiles(&path)?;
        correlations(&path)?;
        convergences(&path)?;
        lines(&path)?;
    }
    Ok(())
}

type Paths<'a> = &'a dyn Fn(&str) -> std::path::PathBuf;

fn toss() -> TrajectoryFigure {
    let mut noise = Noise(1);
    let times: Vec<f64> = (0..148).map(|i| f64::from(i) / 148.0).collect();
    let height = |t: f64| match t {
        t if t < 0.28 => 0.12 + 0.95 * t - 4.905 * t * t,
        t if t < 0.45 => 0.048 + 0.55 * (t - 0.28) - 4.905 * (t - 0.28).powi(2),
        _ => 0.048 - 0.006 * (-(t - 0.45) * 20.0).exp(),
    };
    let fitted: Vec<[f64; 3]> = times
        .iter()
        .map(|t| [0.42 * (1.0 - (-2.5 * t).exp()), -0.05 + 0.08 * t, height(*t)])
        .collect();
    let measured = fitted
        .iter()
        .zip(&times)
        .map(|(p, t)| p.map(|v| v + 0.0015 * noise.normal() + 0.004 * t))
        .collect();
    TrajectoryFigure {
        title: "Toss 137: measured and fitted motion of the cube".into(),
        position_errors: times.iter().map(|t| 6.0 * t * t + 0.5 * noise.uniform()).collect(),
        position_unit: "% of width".into(),
        rotation_errors: times.iter().map(|t| 14.0 * t * t + noise.uniform()).collect(),
        times,
        measured,
        fitted,
    }
}

fn trajectories(path: Paths<'_>) -> Result<(), PlotError> {
    let figure = toss();
    figure.save(&path("trajectory"))?;
    let mut gaps = toss();
    gaps.title = "Toss with frames that the cameras lost, errors in mm".into();
    gaps.position_unit = "mm".into();
    for i in 40..70 {
        gaps.measured[i] = [f64::NAN; 3];
        gaps.position_errors[i] = f64::NAN;
        gaps.rotation_errors[i] = f64::INFINITY;
    }
    gaps.save(&path("trajectory_gaps"))?;
    let constant = TrajectoryFigure {
        title: "Constant data, one frame, tiny errors".into(),
        times: vec![0.25],
        measured: vec![[0.0, 1.0, -2.5]],
        fitted: vec![[0.0, 1.0, -2.5]],
        position_errors: vec![3e-9],
        position_unit: "mm".into(),
        rotation_errors: vec![0.0],
    };
    constant.save(&path("trajectory_single"))
}

fn residuals(path: Paths<'_>) -> Result<(), PlotError> {
    let mut noise = Noise(2);
    let mut lognormal =
        |scale: f64| (0..570).map(|_| scale * (0.6 * noise.normal()).exp()).collect();
    let figure = ResidualFigure {
        title: "Errors of 570 tosses, fitted parameters".into(),
        position_errors: lognormal(4.2),
        position_unit: "% of width".into(),
        rotation_errors: lognormal(11.0),
    };
    figure.save(&path("residual"))?;
    let constant = ResidualFigure {
        title: "Constant and single values".into(),
        position_errors: vec![2.5e-9; 40],
        position_unit: "mm".into(),
        rotation_errors: vec![123_456.0, f64::NAN],
    };
    constant.save(&path("residual_constant"))
}

/// Loss at which the intervals of the example end.
const THRESHOLD: f64 = 0.105;

/// Profile with its minimum at `estimate`; `steepness` below and above it, 0 for a flat side.
fn bowl(axis: Axis, range: (f64, f64), estimate: f64, steepness: (f64, f64)) -> ParameterProfile {
    let log = axis.scale == AxisScale::Log;
    let to = |v: f64| if log { v.ln() } else { v };
    let from = |c: f64| if log { c.exp() } else { c };
    let (low, high) = (to(range.0), to(range.1));
    let loss = |v: f64| {
        let s = (to(v) - to(estimate)) / (high - low);
        0.082 + s * s * (1.0 + 0.3 * s) * if s < 0.0 { steepness.0 } else { steepness.1 }
    };
    let value = |share: f64| from(low + share * (high - low));
    let values: Vec<f64> = (0..31).map(|i| value(f64::from(i) / 30.0)).collect();
    let inside: Vec<f64> =
        (0..2000).map(|i| value(f64::from(i) / 1999.0)).filter(|v| loss(*v) <= THRESHOLD).collect();
    let (lower, upper) = (inside[0], inside[inside.len() - 1]);
    let verdict = match steepness {
        (_, 0.0) => Verdict::LowerBound(lower),
        (0.0, _) => Verdict::UpperBound(upper),
        (a, b) if a + b > 20.0 => Verdict::Point { lower, upper },
        _ => Verdict::Interval { lower, upper },
    };
    let losses = values.iter().map(|v| loss(*v)).collect();
    ParameterProfile { axis, values, losses, estimate, verdict, top: None }
}

fn parameters() -> Vec<ParameterProfile> {
    let long = "torsional friction radius of the contact patch";
    vec![
        bowl(Axis::log("stiffness k", "N/m"), (300.0, 30_000.0), 4200.0, (0.9, 1.2)),
        bowl(Axis::linear("friction coefficient μ", ""), (0.05, 0.4), 0.18, (20.0, 20.0)),
        bowl(Axis::log("dissipation", "s/m"), (0.01, 10.0), 0.4, (0.9, 0.0)),
        bowl(Axis::log("stiction speed", "m/s"), (1e-6, 1e-1), 2e-3, (0.0, 2.0)),
        bowl(Axis::linear("restitution", ""), (0.0, 1.0), 0.32, (1.5, 0.6)),
        bowl(Axis::linear("centre of mass x", "mm"), (-3.0, 3.0), 0.4, (0.9, 0.9)),
        bowl(Axis::log(long, "m"), (1e-5, 2e-3), 3e-4, (0.9, 0.9)),
        bowl(Axis::linear("density", "kg/m³"), (1.05e6, 1.06e6), 1.054e6, (0.9, 0.9)),
        bowl(Axis::linear("smoothing", "m"), (1e-9, 9e-9), 4e-9, (0.9, 0.9)),
    ]
}

fn profiles(path: Paths<'_>) -> Result<(), PlotError> {
    let mut figure = ProfileFigure {
        title: "Profiles of the loss over 57 tosses".into(),
        loss: Axis::linear("loss", ""),
        threshold: Some(THRESHOLD),
        parameters: parameters(),
    };
    figure.save(&path("profile_9"))?;
    figure.parameters.truncate(5);
    figure.save(&path("profile_5"))?;
    figure.parameters.truncate(2);
    figure.save(&path("profile_2"))?;
    figure.parameters.truncate(1);
    figure.title = "Profile of the stiffness".into();
    figure.save(&path("profile_1"))?;
    figure.title = "Tiny losses, one of them missing, no threshold".into();
    figure.threshold = None;
    figure.loss = Axis::linear("mean squared position error", "m²");
    figure.parameters = parameters();
    figure.parameters.truncate(3);
    for parameter in &mut figure.parameters {
        parameter.losses.iter_mut().for_each(|l| *l *= 1e-9);
        parameter.losses[20] = f64::NAN;
    }
    figure.save(&path("profile_tiny"))?;
    figure.title = "Constant loss; a single point; logarithmic loss".into();
    figure.loss = Axis { label: "loss".into(), unit: String::new(), scale: AxisScale::Log };
    figure.parameters[0].losses.fill(1e-9);
    figure.parameters[1].values = vec![0.2];
    figure.parameters[1].losses = vec![3.0];
    figure.save(&path("profile_constant"))
}

fn correlations(path: Paths<'_>) -> Result<(), PlotError> {
    let matrix = |n: usize| -> Vec<Vec<f64>> {
        let entry = |i: usize, j: usize| {
            if i == j { 1.0 } else { (1.7 * (i * j + i + j) as f64).sin() * 0.95 }
        };
        (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect()
    };
    let names = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
    let short = ["k", "μ", "d", "vₛ", "e", "cₓ", "r", "ρ"];
    let mut figure = CorrelationFigure {
        title: "Correlation of the estimates".into(),
        names: names(&short),
        matrix: matrix(8),
    };
    figure.save(&path("correlation_8"))?;
    figure.names = names(&[
        "stiffness k",
        "friction coefficient",
        "dissipation",
        "torsional friction radius of the patch",
    ]);
    figure.matrix = matrix(4);
    figure.matrix[1][2] = f64::NAN;
    figure.save(&path("correlation_long_names"))?;
    figure.names = names(&["k"]);
    figure.matrix = vec![vec![1.0]];
    figure.save(&path("correlation_1"))?;
    figure.names = (1..=20).map(|i| format!("parameter {i}")).collect();
    figure.matrix = matrix(20);
    figure.save(&path("correlation_20"))
}

fn convergences(path: Paths<'_>) -> Result<(), PlotError> {
    let mut noise = Noise(3);
    let mut start = |length: u32, floor: f64| -> Vec<f64> {
        let rate = 0.05 + 0.2 * noise.uniform();
        (0..length)
            .map(|i| floor + (-rate * f64::from(i)).exp() * (1.0 + noise.uniform()))
            .collect()
    };
    let starts = [2e-3, 4e-4, 5e-2, 4e-4, 7e-3, 1e-3].map(|floor| start(60, floor));
    let mut figure = ConvergenceFigure {
        title: "Convergence from six starts".into(),
        loss_label: "loss".into(),
        starts: starts.to_vec(),
    };
    figure.save(&path("convergence"))?;
    figure.title = "Thirteen starts down to 10⁻⁹, one of them failed".into();
    figure.starts = (0..13).map(|i| start(120, 1e-9 * 10f64.powi(i / 2))).collect();
    figure.starts[4][30] = f64::NAN;
    figure.starts[5].clear();
    figure.save(&path("convergence_13"))?;
    figure.title = "Forty starts".into();
    figure.starts = (0..40).map(|i| start(40, 1e-4 * f64::from(1 + i))).collect();
    figure.save(&path("convergence_40"))?;
    figure.title = "One evaluation".into();
    figure.starts = vec![vec![1e-9]];
    figure.save(&path("convergence_single"))
}

fn lines(path: Paths<'_>) -> Result<(), PlotError> {
    let time: Vec<f64> = (0..600).map(|i| f64::from(i) / 600.0).collect();
    let fall = |t: &f64| (t * 3.0 * PI).cos().abs();
    let potential: Vec<f64> = time.iter().map(|t| 0.35 * (1.0 - 0.4 * t) * fall(t)).collect();
    let kinetic: Vec<f64> = time.iter().map(|t| 0.35 * (1.0 - 0.4 * t) * (1.0 - fall(t))).collect();
    let total: Vec<f64> = potential.iter().zip(&kinetic).map(|(a, b)| a + b).collect();
    let dissipated = total.iter().map(|e| 0.35 - e).collect();
    LineFigure {
        title: "Energies of a toss".into(),
        x: Axis::linear("time", "s"),
        y: Axis::linear("energy", "J"),
        series: vec![
            Series::line("kinetic", time.clone(), kinetic),
            Series::line("potential", time.clone(), potential),
            Series::line("total", time.clone(), total),
            Series::line("dissipated", time, dissipated),
        ],
        slopes: vec![],
    }
    .save(&path("line_energy"))?;
    orders(path)?;
    hard_lines(path)
}

fn orders(path: Paths<'_>) -> Result<(), PlotError> {
    let mut noise = Noise(4);
    let steps: Vec<f64> = (0..8).map(|i| 1e-2 / f64::from(1 << i)).collect();
    let mut error = |scale: f64, order: f64| -> Vec<f64> {
        steps.iter().map(|h| scale * h.powf(order) * (1.0 + 0.2 * noise.uniform())).collect()
    };
    let (euler, bdf2) = (error(0.8, 1.0), error(4.0, 2.0));
    LineFigure {
        title: "Error of the end position against the time step".into(),
        x: Axis::log("time step", "s"),
        y: Axis::log("position error", "m"),
        series: vec![
            Series::line_dots("implicit Euler", steps.clone(), euler),
            Series::line_dots("BDF2", steps.clone(), bdf2),
        ],
        slopes: vec![
            ReferenceSlope { order: 1.0, label: "first order".into() },
            ReferenceSlope { order: 2.0, label: "second order".into() },
        ],
    }
    .save(&path("line_orders"))
}

fn hard_lines(path: Paths<'_>) -> Result<(), PlotError> {
    let x: Vec<f64> = (0..50).map(|i| 1e6 * f64::from(i)).collect();
    let mut noise = Noise(5);
    let mut walk =
        |level: f64| -> Vec<f64> { x.iter().map(|_| level + 2e4 * noise.normal()).collect() };
    let series = (0..12).map(|i| {
        let name = format!("series {i} with a rather long name of an experiment");
        let y = walk(-1e5 + 1e5 * f64::from(i));
        if i == 3 { Series::dots(name, x.clone(), y) } else { Series::line(name, x.clone(), y) }
    });
    let mut figure = LineFigure {
        title:
            "A title that is much too long for one line, because it names the body, the ground, \
                the contact model, the integrator and the number of tosses"
                .into(),
        x: Axis::linear("number of contact samples that were evaluated", "1"),
        y: Axis::linear("something with a long label and large values of both signs", "kg·m²/s²"),
        series: series.collect(),
        slopes: vec![],
    };
    figure.save(&path("line_hard"))?;
    figure.title = "Constant".into();
    figure.series = vec![Series::line("constant", vec![0.0, 1.0, 2.0], vec![9.81; 3])];
    figure.save(&path("line_constant"))?;
    figure.title = "Single point".into();
    figure.series = vec![Series::line("alone", vec![3.0], vec![1e-9])];
    figure.save(&path("line_single"))?;
    figure.title = "Small change of a large value".into();
    figure.series =
        vec![Series::line_dots("", vec![0.0, 0.5, 1.0], vec![1e5, 1e5 + 0.02, 1e5 + 0.01])];
    figure.y = Axis::linear("pressure", "Pa");
    figure.save(&path("line_offset"))
}
