//! Figures of fits: plain numbers in, a PNG or an SVG out.
//!
//! Each figure is a struct with public fields and one method `save`. The extension of the path
//! chooses the format: `.svg`, or `.png` with two pixels per logical pixel. The font is part of the
//! crate, so that figures look alike on every machine.
//!
//! * [`TrajectoryFigure`]: measured against fitted motion of one toss.
//! * [`ResidualFigure`]: distribution of the errors over all tosses.
//! * [`ProfileFigure`]: loss along each parameter, with what it says about the parameter.
//! * [`CorrelationFigure`]: correlation of the estimates.
//! * [`ConvergenceFigure`]: loss against iteration, from several starts.
//! * [`SliceFigure`]: planes through a field, with its zero level.
//! * [`ComparisonFigure`]: one quantity for several cases and variants of each.
//! * [`TractionFigure`]: tractions on a surface, seen along the normal.
//! * [`LineFigure`]: any named series against one axis.
//!
//! Values that are not finite (or not positive, on a logarithmic axis) are left out and leave a gap
//! in a line. A figure with nothing to draw is an error.
//!
//! ```
//! use osculate_plot::{Axis, LineFigure, Series};
//!
//! let time: Vec<f64> = (0..100).map(|i| f64::from(i) * 0.01).collect();
//! let energy = time.iter().map(|t| (-t).exp()).collect();
//! let figure = LineFigure {
//!     title: "Energy of a toss".into(),
//!     x: Axis::linear("time", "s"),
//!     y: Axis::log("energy", "J"),
//!     series: vec![Series::line("kinetic", time, energy)],
//!     slopes: vec![],
//! };
//! # let directory = std::env::temp_dir();
//! figure.save(&directory.join("osculate-plot-doctest.svg"))?;
//! # Ok::<(), osculate_plot::PlotError>(())
//! ```
//!
//! Not here: interaction, three dimensions, fonts for scripts outside DejaVu Sans.

mod axis;
mod data;
mod error;
mod figure;
mod format;
mod frame;
mod legend;
mod palette;
mod range;
mod render;
mod scene;
mod stroke;
mod text;
mod ticks;

pub use axis::{Axis, AxisScale};
pub use error::PlotError;
pub use figure::comparison::ComparisonFigure;
pub use figure::convergence::ConvergenceFigure;
pub use figure::correlation::CorrelationFigure;
pub use figure::line::{LineFigure, ReferenceSlope, Series, SeriesStyle};
pub use figure::profile::{ParameterProfile, ProfileFigure, Verdict};
pub use figure::residual::ResidualFigure;
pub use figure::slice::{Slice, SliceFigure};
pub use figure::traction::{TractionFigure, TractionPoint};
pub use figure::trajectory::TrajectoryFigure;
