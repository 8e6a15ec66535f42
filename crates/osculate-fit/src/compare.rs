//! Loss against evaluations and processor time, of every solver on one problem.
//!
//! An *evaluation* is one roll-out of all blocks, with its Jacobian or without. A Jacobian by tangents is one evaluation
//! and dearer than one without; a Jacobian by forward differences is `n + 1` evaluations. Solvers run one after another,
//! so that processor time is theirs alone.

use crate::clock::{Of, processor_seconds};
use crate::least_squares::{BlockProblem, BlockResiduals, Stop};
use crate::optimise::{Budget, Solver, minimise};
use nalgebra::DMatrix;
use serde::Serialize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Relative to one plus the coordinate: the rounding of a roll-out and the curvature of the loss share the error.
const DIFFERENCE: f64 = 1e-6;

/// A solver as it is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Contestant {
    /// Bounded Levenberg–Marquardt with exact Jacobians.
    LevenbergMarquardt,
    /// The same with Jacobians by forward differences.
    LevenbergMarquardtDifferences,
    /// argmin's L-BFGS with exact gradients.
    Lbfgs,
    /// argmin's Nelder–Mead.
    NelderMead,
    /// basin's CMA-ES.
    CmaEs,
}

impl Contestant {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::LevenbergMarquardt,
        Self::LevenbergMarquardtDifferences,
        Self::Lbfgs,
        Self::NelderMead,
        Self::CmaEs,
    ];

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::LevenbergMarquardt => "Levenberg-Marquardt",
            Self::LevenbergMarquardtDifferences => "Levenberg-Marquardt, differences",
            Self::Lbfgs => "L-BFGS",
            Self::NelderMead => "Nelder-Mead",
            Self::CmaEs => "CMA-ES",
        }
    }

    /// Solver and most iterations: enough for each to end by its own rule on a smooth problem of a few parameters.
    fn solver(self) -> (Solver, usize) {
        match self {
            Self::LevenbergMarquardt | Self::LevenbergMarquardtDifferences => {
                (Solver::LevenbergMarquardt, 60)
            }
            Self::Lbfgs => (Solver::Lbfgs, 100),
            Self::NelderMead => (Solver::NelderMead, 400),
            Self::CmaEs => (Solver::CmaEs, 200),
        }
    }
}

/// One point of a course.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CoursePoint {
    /// Evaluations so far: roll-outs of all blocks, with Jacobian or without.
    pub evaluations: f64,
    /// Those of them with a Jacobian.
    pub jacobians: f64,
    /// Processor time so far (s), all threads; absent where the system does not tell.
    pub cpu_seconds: Option<f64>,
    /// Lowest loss so far, mean a block.
    pub loss: f64,
}

/// The course of one solver from one start.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Course {
    /// Which solver.
    pub contestant: Contestant,
    /// Index of the start.
    pub start: usize,
    /// Where it was, in order; none where the start has no value.
    pub points: Vec<CoursePoint>,
    /// Why it stopped.
    pub stop: Option<Stop>,
}

impl Course {
    /// Lowest loss.
    pub fn loss(&self) -> f64 {
        self.points.last().map_or(f64::INFINITY, |p| p.loss)
    }

    /// The first point at or below a loss.
    pub fn reached(&self, loss: f64) -> Option<&CoursePoint> {
        self.points.iter().find(|p| p.loss <= loss)
    }
}

/// Every solver from every start.
///
/// * `steps`: first simplex edges and standard deviations, in coordinates.
/// * `observe`: called before each run with its number, from 0.
pub fn compare<P: BlockProblem>(
    problem: &P,
    starts: &[(Vec<f64>, Vec<Vec<f64>>)],
    (bounds, steps, seed): (&[[f64; 2]], &[f64], u64),
    interrupted: &AtomicBool,
    observe: &dyn Fn(usize),
) -> Vec<Course> {
    let mut courses = Vec::new();
    for (index, start) in starts.iter().enumerate() {
        for contestant in Contestant::ALL {
            if interrupted.load(Ordering::Relaxed) {
                return courses;
            }
            observe(courses.len());
            let (solver, iterations) = contestant.solver();
            let budget = Budget {
                iterations,
                cost_tolerance: 1e-7,
                simplex: steps.to_vec(),
                seed: seed.wrapping_add(index as u64),
            };
            let exact = contestant != Contestant::LevenbergMarquardtDifferences;
            let counted = Counted::new(problem, exact);
            let (points, stop) = counted.run(start, bounds, (solver, budget), interrupted);
            courses.push(Course { contestant, start: index, points, stop });
        }
    }
    courses
}

/// A problem that counts its evaluations; without exact Jacobians, it takes differences.
struct Counted<'a, P> {
    problem: &'a P,
    exact: bool,
    /// Blocks evaluated, and those of them with a Jacobian.
    values: AtomicUsize,
    jacobians: AtomicUsize,
    begin: Option<f64>,
}

impl<'a, P: BlockProblem> Counted<'a, P> {
    fn new(problem: &'a P, exact: bool) -> Self {
        let zero = || AtomicUsize::new(0);
        Self {
            problem,
            exact,
            values: zero(),
            jacobians: zero(),
            begin: processor_seconds(Of::Process),
        }
    }

    fn run(
        &self,
        start: &(Vec<f64>, Vec<Vec<f64>>),
        bounds: &[[f64; 2]],
        solver: (Solver, Budget),
        interrupted: &AtomicBool,
    ) -> (Vec<CoursePoint>, Option<Stop>) {
        let blocks = self.problem.blocks().max(1) as f64;
        let points: Mutex<Vec<CoursePoint>> = Mutex::new(Vec::new());
        let record = |_, cost: f64| {
            let mut points = points.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let lowest = points.last().map_or(f64::INFINITY, |p| p.loss);
            let count = |c: &AtomicUsize| c.load(Ordering::Relaxed) as f64 / blocks;
            points.push(CoursePoint {
                evaluations: count(&self.values),
                jacobians: count(&self.jacobians),
                cpu_seconds: processor_seconds(Of::Process)
                    .zip(self.begin)
                    .map(|(now, begin)| now - begin),
                loss: lowest.min(cost / blocks),
            });
        };
        let found = minimise(self, start.clone(), bounds, solver, interrupted, &record);
        let points = points.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        (points, found.ok().map(|solution| solution.stop))
    }

    fn counted(
        &self,
        (block, jacobian): (usize, bool),
        shared: &[f64],
        own: &[f64],
    ) -> Result<BlockResiduals, P::Error> {
        self.values.fetch_add(1, Ordering::Relaxed);
        if jacobian {
            self.jacobians.fetch_add(1, Ordering::Relaxed);
        }
        self.problem.evaluate(block, shared, own, jacobian)
    }
}

impl<P: BlockProblem> BlockProblem for Counted<'_, P> {
    type Error = P::Error;

    fn blocks(&self) -> usize {
        self.problem.blocks()
    }

    fn interrupted(&self) -> bool {
        self.problem.interrupted()
    }

    fn evaluate(
        &self,
        block: usize,
        shared: &[f64],
        own: &[f64],
        jacobian: bool,
    ) -> Result<BlockResiduals, P::Error> {
        if self.exact || !jacobian {
            return self.counted((block, jacobian), shared, own);
        }
        let mut found = self.counted((block, false), shared, own)?;
        let rows = found.residuals.len();
        let column = |at: &[f64], own: &[f64], h: f64| {
            self.counted((block, false), at, own).map(|r| (r.residuals - &found.residuals) / h)
        };
        let differences = |at: &[f64], of_own: bool| -> Result<DMatrix<f64>, P::Error> {
            let mut matrix = DMatrix::zeros(rows, at.len());
            for i in 0..at.len() {
                let (mut moved, h) = (at.to_vec(), DIFFERENCE * (1.0 + at[i].abs()));
                moved[i] += h;
                let slope =
                    if of_own { column(shared, &moved, h)? } else { column(&moved, own, h)? };
                matrix.set_column(i, &slope);
            }
            Ok(matrix)
        };
        let (by_shared, by_own) = (differences(shared, false)?, differences(own, true)?);
        (found.shared, found.own) = (by_shared, by_own);
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::DVector;

    /// `r_b = (exp(x₀ t_b) − exp(0.5 t_b), 0.3 (x₁ − t_b))`: two blocks, two parameters.
    struct Decay;

    impl BlockProblem for Decay {
        type Error = ();
        fn blocks(&self) -> usize {
            2
        }
        fn evaluate(&self, b: usize, x: &[f64], _: &[f64], _: bool) -> Result<BlockResiduals, ()> {
            let t = 1.0 + b as f64;
            let growth = (x[0] * t).exp();
            Ok(BlockResiduals {
                residuals: DVector::from_vec(vec![growth - (0.5 * t).exp(), 0.3 * (x[1] - t)]),
                shared: DMatrix::from_row_slice(2, 2, &[t * growth, 0.0, 0.0, 0.3]),
                own: DMatrix::zeros(2, 0),
            })
        }
    }

    /// Lowest loss: `x₀ = 0.5`, `x₁ = 1.5`, `½ · 2 · (0.3 · 0.5)²`.
    const LOWEST: f64 = 0.0225;

    fn courses() -> Vec<Course> {
        let start = (vec![-0.5, 0.2], vec![vec![]; 2]);
        let bounds = [[-3.0, 3.0]; 2];
        compare(&Decay, &[start], (&bounds, &[0.3], 1), &AtomicBool::new(false), &|_| {})
    }

    #[test]
    fn every_contestant_reaches_one_percent_and_its_course_never_rises() {
        let courses = courses();
        assert_eq!(courses.len(), Contestant::ALL.len());
        for c in &courses {
            assert!(c.reached(1.01 * LOWEST).is_some(), "{c:?}");
            assert!(c.loss() >= LOWEST * (1.0 - 1e-9), "{c:?}");
            for pair in c.points.windows(2) {
                assert!(pair[1].loss <= pair[0].loss, "{c:?}");
                assert!(pair[1].evaluations >= pair[0].evaluations, "{c:?}");
                assert!(pair[1].cpu_seconds >= pair[0].cpu_seconds, "{c:?}");
            }
        }
    }

    #[test]
    fn differences_cost_one_evaluation_more_for_each_parameter_and_jacobian() {
        let courses = courses();
        let (exact, differences) = (&courses[0], &courses[1]);
        let at = |c: &Course| *c.reached(1.01 * LOWEST).unwrap();
        let (e, d) = (at(exact), at(differences));
        // The same steps: two parameters, so two more evaluations for each Jacobian.
        assert!(e.jacobians > 0.0 && d.jacobians == 0.0, "{e:?} {d:?}");
        assert!((d.evaluations - e.evaluations - 2.0 * e.jacobians).abs() < 1e-12, "{e:?} {d:?}");
    }

    #[test]
    fn an_interrupt_ends_the_comparison() {
        let start = (vec![-0.5, 0.2], vec![vec![]; 2]);
        let bounds = [[-3.0, 3.0]; 2];
        let none = compare(&Decay, &[start], (&bounds, &[0.3], 1), &AtomicBool::new(true), &|_| {});
        assert!(none.is_empty());
    }
}
