//! Decision variables: coordinates of the solvers, and the numbers of a scene that they move.
//!
//! ```text
//! u = u_c + u_h x          coordinate of docs/experiment.md (linear, log, bounded), centre and half width of its range
//! θ_j = θ_j(u_j)           a parameter, or a number of a control's spline
//! p_k = Σ_j w_kj θ_j       a number of the layout: w = 1 for a parameter, B_j of a step's middle for a control
//! ```
//!
//! All solvers work in x: a range is −1 to 1, so that steps, damping and standard deviations mean the same for all.

use super::spline::basis;
use crate::contact_model::ContactModel;
use crate::fit::starting_points;
use crate::parameter::{FreeParameter, Scale};
use nalgebra::Vector3;
use osculate_math::{Scalar, so3};
use std::ops::Range;

/// A number of the layout that moves.
#[derive(Clone, Debug, PartialEq)]
pub struct Moved {
    /// Index in the layout.
    pub index: usize,
    /// Value in the scene.
    pub base: f64,
    /// Variables and their weights.
    pub terms: Vec<(usize, f64)>,
    /// Of a number that turns a frame.
    pub turn: Option<Turn>,
}

/// A rotation of a frame about a world axis, which takes what turned the frame before along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Index in the layout of the frame's rotation about x; those about y and z follow.
    pub first: usize,
    /// The axis, 0 to 2.
    pub axis: usize,
}

/// A control as it was set up.
#[derive(Clone, Debug, PartialEq)]
pub struct Control {
    /// Its name.
    pub name: String,
    /// Unit of its values.
    pub unit: &'static str,
    /// Steps that it acts in.
    pub steps: Range<usize>,
    /// Its variables.
    pub variables: Range<usize>,
    /// Its places among the moved numbers, one a step.
    pub moved: Range<usize>,
}

/// All decision variables.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Variables {
    /// Path or name, range and scale of each.
    pub free: Vec<FreeParameter>,
    /// What they move.
    pub moved: Vec<Moved>,
    /// The controls among them.
    pub controls: Vec<Control>,
    /// Centre and half width of each in its coordinate.
    frames: Vec<[f64; 2]>,
}

impl Variables {
    fn push(&mut self, free: FreeParameter) -> usize {
        let [low, high] = free.coordinate_bounds();
        // A logistic coordinate has no width: its unit is the natural one.
        let bounded = free.scale == Scale::Bounded;
        self.frames.push(if bounded {
            [0.0, 1.0]
        } else {
            [0.5 * (low + high), 0.5 * (high - low)]
        });
        self.free.push(free);
        self.free.len() - 1
    }

    /// Adds a parameter of the scene.
    pub fn add_parameter(
        &mut self,
        free: FreeParameter,
        (index, base): (usize, f64),
        turn: Option<Turn>,
    ) {
        let variable = self.push(free);
        self.moved.push(Moved { index, base, terms: vec![(variable, 1.0)], turn });
    }

    /// Adds a control: numbers `indices` of the layout in as many steps, driven by a spline of `numbers` of a degree.
    pub fn add_control(
        &mut self,
        (name, unit): (&str, &'static str),
        (from, indices, bases): (usize, &[usize], &[f64]),
        numbers: Vec<FreeParameter>,
        degree: usize,
    ) {
        let (first, place, count) = (self.free.len(), self.moved.len(), numbers.len());
        numbers.into_iter().for_each(|n| {
            self.push(n);
        });
        for (k, (&index, &base)) in indices.iter().zip(bases).enumerate() {
            let x = (k as f64 + 0.5) / indices.len() as f64;
            let terms = basis(x, count, degree).into_iter().map(|(j, w)| (first + j, w));
            let terms = terms.filter(|t| t.1 > 0.0).collect();
            self.moved.push(Moved { index, base, terms, turn: None });
        }
        self.controls.push(Control {
            name: name.into(),
            unit,
            steps: from..from + indices.len(),
            variables: first..self.free.len(),
            moved: place..self.moved.len(),
        });
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.free.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.free.is_empty()
    }

    fn coordinate(&self, j: usize, x: f64) -> f64 {
        let ([center, half], [low, high]) = (self.frames[j], self.free[j].coordinate_bounds());
        // Rounding of the frame must not leave the range.
        (center + half * x).clamp(low, high)
    }

    /// Values of the variables.
    pub fn values(&self, x: &[f64]) -> Vec<f64> {
        (0..self.len()).map(|j| self.free[j].to_value(self.coordinate(j, x[j]))).collect()
    }

    /// `dθ_j/dx_j`.
    pub fn slopes(&self, x: &[f64]) -> Vec<f64> {
        let slope = |j: usize| self.free[j].slope(self.coordinate(j, x[j])) * self.frames[j][1];
        (0..self.len()).map(slope).collect()
    }

    /// `d²θ_j/dx_j²`.
    fn bends(&self, x: &[f64]) -> Vec<f64> {
        let half = |j: usize| self.frames[j][1];
        let bend = |j: usize| self.free[j].bend(self.coordinate(j, x[j])) * half(j) * half(j);
        (0..self.len()).map(bend).collect()
    }

    /// What moves in the layout with `x_j`: indices, and `∂p/∂x_j`.
    pub fn push_forward(&self, x: &[f64], j: usize) -> Vec<(usize, f64)> {
        let slope = self.slopes(x)[j];
        let by = |m: &Moved| m.terms.iter().find(|t| t.0 == j).map(|t| (m.index, t.1 * slope));
        self.moved.iter().filter_map(by).collect()
    }

    /// What the scales bend, `Σ_k w_kj θ_j″ ∂J/∂p_k`: of each variable, from the gradient by the layout and, directly, by the moved
    /// numbers. No number may turn a frame.
    pub fn bent(&self, x: &[f64], layout: &[f64], direct: &[f64]) -> Vec<f64> {
        let mut bent = self.bends(x);
        let mut gradient = vec![0.0; self.len()];
        for (m, direct) in self.moved.iter().zip(direct) {
            m.terms.iter().for_each(|(j, w)| gradient[*j] += w * (layout[m.index] + direct));
        }
        bent.iter_mut().zip(gradient).for_each(|(b, g)| *b *= g);
        bent
    }

    /// Ends of each coordinate.
    pub fn bounds(&self) -> Vec<[f64; 2]> {
        let frames = self.free.iter().zip(&self.frames);
        frames.map(|(p, [c, h])| p.coordinate_bounds().map(|u| (u - c) / h)).collect()
    }

    /// Starting points: a Latin hypercube on the coordinates of the `start` ranges.
    pub fn starts(&self, count: usize, seed: u64) -> Vec<Vec<f64>> {
        let normal =
            |u: Vec<f64>| u.iter().zip(&self.frames).map(|(u, [c, h])| (u - c) / h).collect();
        starting_points(&self.free, count, seed).into_iter().map(normal).collect()
    }

    /// The numbers of the scene at `x`, and the moved ones by themselves; `seed(j)` is the derivative of `x_j`.
    pub fn parameters<M: ContactModel, T: Scalar>(
        &self,
        (layout, base): (&M::Layout, &M::Parameters<f64>),
        x: &[f64],
        seed: impl Fn(usize) -> Option<T>,
    ) -> (M::Parameters<T>, Vec<T>) {
        let (values, slopes) = (self.values(x), self.slopes(x));
        let mut parameters = M::lift::<T>(base);
        let mut moved = Vec::with_capacity(self.moved.len());
        for m in &self.moved {
            let value: f64 = m.terms.iter().map(|(j, w)| w * values[*j]).sum();
            let seeds = m.terms.iter().filter_map(|(j, w)| Some(seed(*j)? * (w * slopes[*j])));
            let change = seeds.fold(T::zero(), |sum, s| sum + s);
            M::add(layout, &mut parameters, m.index, T::from(value - m.base) + change);
            moved.push(T::from(value) + change);
        }
        (parameters, moved)
    }

    /// Gradient by `x` from those by the layout and, directly, by the moved numbers.
    ///
    /// The layout's derivative by a rotation is that by a turn of the frame *as it stands*. A turn by θ_k about e_k that others of
    /// the same frame follow, `R = … exp(θ_l e_l) exp(θ_k e_k) R₀`, turns it about `… exp(θ_l e_l) e_k`.
    pub fn pull(&self, x: &[f64], layout: &[f64], direct: &[f64]) -> Vec<f64> {
        let (values, slopes) = (self.values(x), self.slopes(x));
        let mut gradient = vec![0.0; self.len()];
        for (i, (m, direct)) in self.moved.iter().zip(direct).enumerate() {
            let by_number = match m.turn {
                None => layout[m.index],
                Some(turn) => self.turned(&values, i, turn).dot(&rotation(layout, turn)),
            };
            for (j, w) in &m.terms {
                gradient[*j] += w * slopes[*j] * (by_number + direct);
            }
        }
        gradient
    }

    /// The axis of a turn after those that follow it.
    fn turned(&self, values: &[f64], i: usize, turn: Turn) -> Vector3<f64> {
        let mut axis = unit(turn.axis);
        for later in &self.moved[i + 1..] {
            if let Some(t) = later.turn.filter(|t| t.first == turn.first) {
                let angle: f64 = later.terms.iter().map(|(j, w)| w * values[*j]).sum();
                axis = so3::exp(&(unit(t.axis) * angle)) * axis;
            }
        }
        axis
    }
}

fn unit(axis: usize) -> Vector3<f64> {
    Vector3::from_fn(|i, _| if i == axis { 1.0 } else { 0.0 })
}

fn rotation(layout: &[f64], turn: Turn) -> Vector3<f64> {
    Vector3::from_column_slice(&layout[turn.first..turn.first + 3])
}
