use super::*;
use std::sync::atomic::AtomicUsize;

/// `y = a exp(−b t) + c_b`, with an own offset in every block.
struct Decay {
    data: Vec<Vec<f64>>,
}

const TIMES: [f64; 5] = [0.0, 0.5, 1.0, 2.0, 4.0];

impl Decay {
    fn new() -> Self {
        let data = (0..7)
            .map(|b| TIMES.iter().map(|t| 2.0 * (-0.7 * t).exp() + 0.1 * b as f64).collect())
            .collect();
        Self { data }
    }
}

impl BlockProblem for Decay {
    type Error = ();
    fn blocks(&self) -> usize {
        self.data.len()
    }
    fn evaluate(
        &self,
        block: usize,
        shared: &[f64],
        own: &[f64],
        _jacobian: bool,
    ) -> Result<BlockResiduals, ()> {
        let (a, b) = (shared[0], shared[1]);
        if b < -3.0 {
            return Err(());
        }
        let y = &self.data[block];
        Ok(BlockResiduals {
            residuals: DVector::from_fn(5, |i, _| a * (-b * TIMES[i]).exp() + own[0] - y[i]),
            shared: DMatrix::from_fn(5, 2, |i, j| {
                let e = (-b * TIMES[i]).exp();
                if j == 0 { e } else { -a * TIMES[i] * e }
            }),
            own: DMatrix::from_element(5, 1, 1.0),
        })
    }
}

fn solve(start: [f64; 2], bounds: [[f64; 2]; 2]) -> Solution {
    let problem = Decay::new();
    minimise(
        &problem,
        (start.to_vec(), vec![vec![0.0]; 7]),
        &bounds,
        &Settings::default(),
        &AtomicBool::new(false),
        |_, _| {},
    )
    .unwrap()
}

const WIDE: [[f64; 2]; 2] = [[-10.0, 10.0], [-10.0, 10.0]];

#[test]
fn exact_data_give_shared_and_own_parameters_back() {
    let s = solve([0.3, 0.1], WIDE);
    assert!((s.shared[0] - 2.0).abs() < 1e-6 && (s.shared[1] - 0.7).abs() < 1e-6, "{s:?}");
    for (b, own) in s.own.iter().enumerate() {
        assert!((own[0] - 0.1 * b as f64).abs() < 1e-6);
    }
    assert!(s.history.windows(2).all(|w| w[1] < w[0]), "the cost falls at every iteration");
}

#[test]
fn solution_on_a_bound_is_the_constrained_minimum() {
    let s = solve([1.0, 0.3], [[-10.0, 1.5], [-10.0, 10.0]]);
    assert!((s.shared[0] - 1.5).abs() < 1e-15);
    // Optimal in the other parameters: no cheaper neighbour.
    let problem = Decay::new();
    for d in [-1e-3, 1e-3] {
        let moved = cost(&problem, &[1.5, s.shared[1] + d], &s.own).unwrap();
        assert!(moved > s.cost());
    }
}

#[test]
fn interruption_returns_the_best_point_so_far() {
    let problem = Decay::new();
    let s = minimise(
        &problem,
        (vec![0.3, 0.1], vec![vec![0.0]; 7]),
        &WIDE,
        &Settings::default(),
        &AtomicBool::new(true),
        |_, _| {},
    )
    .unwrap();
    assert_eq!((s.stop, s.shared), (Stop::Interrupted, vec![0.3, 0.1]));
}

#[test]
fn step_with_own_parameters_eliminated_is_that_of_the_joint_problem() {
    let problem = Decay::new();
    let (shared, own) = (vec![1.7, 0.6], vec![vec![0.05]; 7]);
    let normal = linearise(&problem, &shared, &own).unwrap();
    let damping = 0.03;
    let (step, own_steps) = normal.step(damping, &[false; 2]).unwrap();
    let (mut joint, mut gradient) = (DMatrix::zeros(9, 9), DVector::zeros(9));
    for (b, own) in own.iter().enumerate() {
        let r = problem.evaluate(b, &shared, own, true).unwrap();
        let mut j = DMatrix::zeros(5, 9);
        j.columns_mut(0, 2).copy_from(&r.shared);
        j.column_mut(2 + b).copy_from(&r.own.column(0));
        joint += j.tr_mul(&j);
        gradient += j.tr_mul(&r.residuals);
    }
    for i in 0..9 {
        joint[(i, i)] *= 1.0 + damping;
    }
    let whole = joint.cholesky().unwrap().solve(&-gradient);
    assert!((whole.rows(0, 2) - &step).norm() < 1e-12 * whole.norm());
    for (b, own) in own_steps.iter().enumerate() {
        assert!((whole[2 + b] - own[0]).abs() < 1e-12 * whole.norm());
    }
}

#[test]
fn information_of_shared_parameters_is_that_of_the_joint_problem() {
    let problem = Decay::new();
    let (shared, own) = (vec![2.0, 0.7], (0..7).map(|b| vec![0.1 * b as f64]).collect::<Vec<_>>());
    let info = information(&problem, &shared, &own).unwrap();
    // The joint matrix of 2 + 7 unknowns, inverted: its shared corner is the inverse of the marginal matrix.
    let mut joint = DMatrix::zeros(9, 9);
    for (b, own) in own.iter().enumerate() {
        let r = problem.evaluate(b, &shared, own, true).unwrap();
        let mut j = DMatrix::zeros(5, 9);
        j.columns_mut(0, 2).copy_from(&r.shared);
        j.column_mut(2 + b).copy_from(&r.own.column(0));
        joint += j.tr_mul(&j);
    }
    let corner = joint.try_inverse().unwrap().view((0, 0), (2, 2)).into_owned();
    let marginal = info.matrix.try_inverse().unwrap();
    assert!((corner - marginal).norm() < 1e-10);
}

/// Stops after some evaluations, in the middle of an iteration.
struct Stopped {
    decay: Decay,
    left: AtomicUsize,
}

impl BlockProblem for Stopped {
    type Error = ();
    fn blocks(&self) -> usize {
        self.decay.blocks()
    }
    fn interrupted(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
    }
    fn evaluate(
        &self,
        block: usize,
        shared: &[f64],
        own: &[f64],
        jacobian: bool,
    ) -> Result<BlockResiduals, ()> {
        let less = |left: usize| left.checked_sub(1);
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).map_err(drop)?;
        self.decay.evaluate(block, shared, own, jacobian)
    }
}

/// Symptom: evaluations that fail because the caller asked to stop looked like steps that lead uphill ("stalled"), or lost the
/// best point with the error of the Jacobian after an accepted step.
#[test]
fn evaluations_that_are_interrupted_leave_the_point_before_them() {
    let settings = Settings::default();
    let whole = solve([0.5, 2.0], WIDE);
    let mut ends = 0;
    for left in (7..120).chain([100_000]) {
        let problem = Stopped { decay: Decay::new(), left: AtomicUsize::new(left) };
        let start = (vec![0.5, 2.0], vec![vec![0.0]; 7]);
        let go_on = AtomicBool::new(false);
        let found = minimise(&problem, start, &WIDE, &settings, &go_on, |_, _| {}).unwrap();
        if found.stop != Stop::Interrupted {
            ends += 1;
            continue;
        }
        // The cost told is that of the point told.
        let own = &found.own;
        let at = cost(&problem.decay, &found.shared, own).unwrap();
        assert!((at - found.cost()).abs() <= 1e-12 * at, "{left}: {at} {}", found.cost());
        assert!(found.history[..] == whole.history[..found.history.len()], "{left}");
    }
    assert!(ends > 0, "some budgets are enough");
}
