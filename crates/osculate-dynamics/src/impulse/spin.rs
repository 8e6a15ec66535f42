//! Spin and rolling: angular rows that share a load with sliding.
//!
//! ```text
//! linear         |τ_n| ≤ r (μ N − S)₊,  N = Σ r_N,  S = Σ ‖r_T‖;  where S > μ N the r_T are scaled by μN/S first
//! ellipsoid      ‖r_T‖²/μ² + τ²/(μ r)² ≤ N²                limit surface: that of a disk, see surface
//! condim 4       Σ over (slide, slide, spin) fᵢ²/μᵢ² ≤ N²   condim 6: and two rolling rows
//! ```
//!
//! The first three need a radius (an effective footprint, `2R/3` of a loaded disk) and act on a whole region; the last has coefficients
//! of its own and acts at one contact. All but the linear budget act at one place.

use super::build::Builder;
use super::row::{Row, Velocities};
use super::rows::FrictionPair;
use super::solve::{ROUNDING, slip};
use super::surface::SurfaceRows;
use nalgebra::{SMatrix, SVector, Vector3};
use osculate_contact::impulse::torsion::{LinearBudget, update_spin};
use osculate_contact::impulse::{Condim, Ellipsoid, ImpulseError};

/// The spin row of a region.
#[derive(Clone, Debug)]
pub(crate) struct SpinRow {
    row: Row,
    /// Normal of the region.
    pub(crate) normal: Vector3<f64>,
    /// `D` \[1/(kg m²)\].
    mobility: f64,
    /// `r` \[m\].
    radius: f64,
    /// `μ` of the pair \[–\].
    friction: f64,
    /// `τ` \[N m s\].
    pub(crate) impulse: f64,
}

/// Spin and rolling rows of one contact.
#[derive(Clone, Debug)]
pub(crate) struct EllipticRows {
    rows: [Row; 3],
    /// Normal and tangents.
    directions: [Vector3<f64>; 3],
    block: SMatrix<f64, 5, 5>,
    coefficients: SVector<f64, 5>,
    /// Spin and rolling impulses \[N m s\].
    pub(crate) impulse: Vector3<f64>,
}

/// Angular rows of a group.
#[derive(Clone, Debug)]
pub(crate) enum Angular {
    /// None.
    None,
    /// Spin that shares the budget of sliding.
    Spin(Box<SpinRow>),
    /// Spin and rolling on one ellipsoid with sliding.
    Elliptic(Box<EllipticRows>),
    /// Spin on the limit surface of a disk with sliding.
    Surface(Box<SurfaceRows>),
}

impl Angular {
    /// Impulse on the first body \[N m s\], world.
    pub(crate) fn world(&self) -> Vector3<f64> {
        match self {
            Self::None => Vector3::zeros(),
            Self::Spin(s) => s.normal * s.impulse,
            Self::Elliptic(e) => {
                let [n, s, t] = &e.directions;
                n * e.impulse.x + s * e.impulse.y + t * e.impulse.z
            }
            Self::Surface(s) => s.normal * s.impulse,
        }
    }

    /// Starts from an impulse of the world \[N m s\].
    pub(crate) fn start(&mut self, impulse: &Vector3<f64>) {
        match self {
            Self::None => {}
            Self::Spin(s) => s.impulse = s.normal.dot(impulse),
            Self::Surface(s) => s.impulse = s.normal.dot(impulse),
            Self::Elliptic(e) => {
                let rolls = e.coefficients[3] > 0.0;
                let [n, s, t] = e.directions.map(|d| d.dot(impulse));
                e.impulse = if rolls { Vector3::new(n, s, t) } else { Vector3::new(n, 0.0, 0.0) };
            }
        }
    }

    /// Its rows.
    pub(crate) fn rows_mut(&mut self) -> &mut [Row] {
        match self {
            Self::None => &mut [],
            Self::Spin(s) => std::slice::from_mut(&mut s.row),
            Self::Surface(s) => s.rows_mut(),
            Self::Elliptic(e) => &mut e.rows,
        }
    }

    /// Shows each row with its impulse.
    pub(crate) fn each(&self, mut see: impl FnMut(&Row, f64)) {
        match self {
            Self::None => {}
            Self::Spin(s) => see(&s.row, s.impulse),
            Self::Surface(s) => s.each(see),
            Self::Elliptic(e) => e.rows.iter().zip(e.impulse.iter()).for_each(|(r, x)| see(r, *x)),
        }
    }

    /// `v ← v + M⁻¹Jᵀ r` of its rows.
    pub(crate) fn apply(&self, v: &mut Velocities) {
        self.each(|row, impulse| row.apply(impulse, v));
    }
}

impl Angular {
    /// Largest sliding impulse of a pair beside what spins and rolls \[N s\].
    pub(crate) fn sliding_radius(&self, pair: &FrictionPair, load: f64) -> f64 {
        let budget = pair.share * load;
        match self {
            Self::None | Self::Spin(_) => budget,
            Self::Elliptic(e) => e.coefficients[0] * e.left(load),
            Self::Surface(s) => s.sliding_radius(budget),
        }
    }

    /// One sweep of the rows of a group that has one pair, where they are found together with it: `None` where they are not.
    ///
    /// * `part`: of the way to go \[–\].
    ///
    /// # Errors
    /// Where the law refuses its input.
    pub(crate) fn sweep_with(
        &mut self,
        (load, part): (f64, f64),
        pairs: &mut [FrictionPair],
        v: &mut Velocities,
    ) -> Result<Option<f64>, ImpulseError> {
        match (self, pairs) {
            (Self::Elliptic(rows), [pair]) => rows.sweep((load, part), pair, v).map(Some),
            (Self::Surface(rows), [pair]) => rows.sweep((load, part), pair, v).map(Some),
            _ => Ok(None),
        }
    }

    /// The residual of such rows \[m/s\].
    pub(crate) fn residual_with(
        &self,
        load: f64,
        pairs: &[FrictionPair],
        v: &Velocities,
    ) -> Option<f64> {
        match (self, pairs) {
            (Self::Elliptic(rows), [pair]) => Some(rows.residual(load, pair, v)),
            (Self::Surface(rows), [pair]) => Some(rows.residual(load, pair, v)),
            _ => None,
        }
    }
}

impl SpinRow {
    pub(crate) fn new(
        builder: &Builder<'_>,
        bodies: [usize; 2],
        normal: &Vector3<f64>,
        (friction, radius): (f64, f64),
    ) -> Self {
        let row = builder.angular(bodies, normal);
        let mobility = row.coupling(&row);
        Self { row, normal: *normal, mobility, radius, friction, impulse: 0.0 }
    }

    fn budget(&self, load: f64, pairs: &[FrictionPair]) -> LinearBudget {
        let sliding = pairs.iter().map(|p| p.impulse.norm()).sum();
        LinearBudget::new(self.friction, load, sliding, self.radius)
    }

    /// One sweep: what sliding has too much goes, then spin takes what is left; the change of velocity \[m/s\].
    pub(crate) fn sweep(
        &mut self,
        (load, part): (f64, f64),
        pairs: &mut [FrictionPair],
        v: &mut Velocities,
    ) -> f64 {
        let budget = self.budget(load, pairs);
        let mut change = 0.0_f64;
        if budget.sliding_scale < 1.0 {
            for pair in pairs {
                let step = pair.impulse * (budget.sliding_scale - 1.0);
                pair.impulse += step;
                pair.rows[0].apply(step.x, v);
                pair.rows[1].apply(step.y, v);
                change = change.max((pair.block * step).norm());
            }
        }
        let new = between(self.impulse, self.aim(budget.spin_bound, v), part);
        let step = new - self.impulse;
        self.impulse = new;
        self.row.apply(step, v);
        change.max(step.abs() * self.mobility * self.radius)
    }

    fn aim(&self, bound: f64, v: &Velocities) -> f64 {
        let rate = self.row.velocity(v);
        let size = self.row.magnitude(v) + self.mobility * self.impulse.abs();
        let rate = if rate.abs() <= ROUNDING * size { 0.0 } else { rate };
        update_spin(self.impulse, rate, self.mobility, bound)
    }

    /// Natural residual \[m/s\].
    pub(crate) fn residual(&self, load: f64, pairs: &[FrictionPair], v: &Velocities) -> f64 {
        let aim = self.aim(self.budget(load, pairs).spin_bound, v);
        (aim - self.impulse).abs() * self.mobility * self.radius
    }
}

impl EllipticRows {
    /// * `triple`: coefficients of sliding \[–\], spin and rolling \[m\].
    pub(crate) fn new(
        builder: &Builder<'_>,
        bodies: [usize; 2],
        (normal, pair): (&Vector3<f64>, &FrictionPair),
        (condim, triple): (Condim, [f64; 3]),
    ) -> Self {
        let directions = [*normal, pair.directions[0], pair.directions[1]];
        let rows = directions.map(|d| builder.angular(bodies, &d));
        let all = [&pair.rows[0], &pair.rows[1], &rows[0], &rows[1], &rows[2]];
        let block = SMatrix::from_fn(|i, j| all[i].coupling(all[j]));
        let coefficients = SVector::from(condim.coefficients(triple));
        Self { rows, directions, block, coefficients, impulse: Vector3::zeros() }
    }

    fn impulses(&self, pair: &FrictionPair) -> SVector<f64, 5> {
        let (x, a) = (&pair.impulse, &self.impulse);
        SVector::from([x.x, x.y, a.x, a.y, a.z])
    }

    fn slip(&self, pair: &FrictionPair, v: &Velocities) -> SVector<f64, 5> {
        let (u, w) = (slip(pair, v), self.rows.each_ref().map(|r| r.velocity(v)));
        SVector::from([u.x, u.y, w[0], w[1], w[2]])
    }

    /// One sweep of sliding, spin and rolling together; the change of velocity \[m/s\].
    pub(crate) fn sweep(
        &mut self,
        (load, part): (f64, f64),
        pair: &mut FrictionPair,
        v: &mut Velocities,
    ) -> Result<f64, ImpulseError> {
        let old = self.impulses(pair);
        let drive = self.block * old - self.slip(pair, v);
        let law = Ellipsoid { block: self.block, drive, coefficients: self.coefficients, load };
        let whole = law.solve(&old)?.impulse - old;
        let step = if part < 1.0 { whole * part } else { whole };
        pair.impulse += nalgebra::Vector2::new(step[0], step[1]);
        self.impulse += Vector3::new(step[2], step[3], step[4]);
        let rows = [&pair.rows[0], &pair.rows[1], &self.rows[0], &self.rows[1], &self.rows[2]];
        for (row, step) in rows.iter().zip(step.iter()) {
            row.apply(*step, v);
        }
        Ok((self.block * step).component_mul(&self.coefficients).norm())
    }

    /// What spin and rolling leave of a load to sliding \[N s\].
    fn left(&self, load: f64) -> f64 {
        let used = |i: usize| {
            let (f, mu) = (self.impulse[i], self.coefficients[i + 2]);
            if mu > 0.0 { (f / mu) * (f / mu) } else { 0.0 }
        };
        (load * load - (0..3).map(used).sum::<f64>()).max(0.0).sqrt()
    }

    /// Natural residual in scaled rows \[m/s\].
    pub(crate) fn residual(&self, load: f64, pair: &FrictionPair, v: &Velocities) -> f64 {
        let mu = &self.coefficients;
        let f = self.impulses(pair);
        let y = SVector::<f64, 5>::from_fn(|i, _| if mu[i] > 0.0 { f[i] / mu[i] } else { 0.0 });
        let scaled = SMatrix::<f64, 5, 5>::from_fn(|i, j| mu[i] * self.block[(i, j)] * mu[j]);
        let tau = scaled.trace();
        if tau <= 0.0 {
            return 0.0;
        }
        let mut aim = y - self.slip(pair, v).component_mul(mu) / tau;
        let size = aim.norm();
        if size > load {
            aim *= load / size;
        }
        (y - aim).norm() * tau
    }
}

/// Part of the way from one number to another; the other bit by bit where it is the whole way.
fn between(old: f64, new: f64, part: f64) -> f64 {
    if part < 1.0 { old + (new - old) * part } else { new }
}
