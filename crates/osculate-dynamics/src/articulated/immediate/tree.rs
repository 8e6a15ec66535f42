//! A tree at the start of a step.

use super::law::RowSource;
use super::row::TreeRow;
use crate::articulated::{
    ArticulatedModel, Configuration, JointDrive, MassFactor, ModelError, TreeKinematics, TreePoint,
    bias, mass_matrix,
};
use nalgebra::Vector3;

/// Response of a tree to impulses during a step.
#[derive(Clone, Debug)]
pub struct TreeResponse<'a> {
    /// The tree.
    pub model: &'a ArticulatedModel,
    /// Where it is.
    pub q: &'a Configuration,
    /// Its velocities at the start, one a degree of freedom.
    pub v: &'a [f64],
    /// Its kinematics.
    pub at: TreeKinematics,
    /// `h` \[s\].
    pub duration: f64,
    /// Factors of `Ĥ`.
    pub factor: MassFactor,
    /// `v_f`: velocities at the end without rows.
    pub free: Vec<f64>,
}

/// What a solve took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SolveStats {
    /// Sweeps done.
    pub sweeps: usize,
    /// Largest natural residual of a row, as a velocity \[m/s or rad/s\].
    pub residual: f64,
}

impl<'a> TreeResponse<'a> {
    /// Of a tree at a point, under the efforts `tau`, for a step of `duration` \[s\].
    ///
    /// # Errors
    /// Where a list has the wrong length, or the mass matrix is not positive definite.
    pub fn new(point: TreePoint<'a>, tau: &[f64], duration: f64) -> Result<Self, ModelError> {
        Self::moving(point, point.v, tau, duration)
    }

    /// The same without Coriolis and gyroscopic forces.
    ///
    /// # Errors
    /// As [`TreeResponse::new`].
    pub(crate) fn kick(
        point: TreePoint<'a>,
        tau: &[f64],
        duration: f64,
    ) -> Result<Self, ModelError> {
        Self::moving(point, &vec![0.0; point.v.len()], tau, duration)
    }

    /// With Coriolis and gyroscopic forces of the velocities `moving`.
    fn moving(
        point: TreePoint<'a>,
        moving: &[f64],
        tau: &[f64],
        duration: f64,
    ) -> Result<Self, ModelError> {
        let TreePoint { model, q, v, load } = point;
        let (found, expected) = (tau.len(), model.dofs());
        if found != expected {
            return Err(ModelError::Count { what: "efforts", found, expected });
        }
        let mut response = Self::unforced(model, q, v, duration)?;
        let mut push: Vec<f64> =
            tau.iter().zip(bias(model, &response.at, moving, load)).map(|(t, c)| t - c).collect();
        for (i, link) in model.links().iter().enumerate() {
            let laws = &link.joint.laws;
            for k in model.joint_dofs(i) {
                push[k] -= laws.friction.viscous * v[k];
            }
            if let (Some(drive), Some(q)) = (&laws.drive, q.joints()[i].scalar()) {
                let k = model.joint_dofs(i).start;
                push[k] += implicit_drive(drive, (q, v[k]), duration).1;
            }
        }
        push.iter_mut().for_each(|f| *f *= duration);
        response.factor.solve(&mut push);
        response.free = v.iter().zip(push).map(|(v, change)| v + change).collect();
        Ok(response)
    }

    /// The same without what acts on the tree: `free` is its velocities at the start.
    ///
    /// # Errors
    /// As [`TreeResponse::new`].
    pub(crate) fn unforced(
        model: &'a ArticulatedModel,
        q: &'a Configuration,
        v: &'a [f64],
        duration: f64,
    ) -> Result<Self, ModelError> {
        let (found, expected) = (v.len(), model.dofs());
        if found != expected {
            return Err(ModelError::Count { what: "velocities", found, expected });
        }
        let at = TreeKinematics::new(model, q);
        let mut h = mass_matrix(model, &at);
        for (i, link) in model.links().iter().enumerate() {
            let laws = &link.joint.laws;
            for k in model.joint_dofs(i) {
                h[(k, k)] += duration * laws.friction.viscous;
            }
            if let (Some(drive), Some(q)) = (&laws.drive, q.joints()[i].scalar()) {
                let k = model.joint_dofs(i).start;
                h[(k, k)] += implicit_drive(drive, (q, v[k]), duration).0;
            }
        }
        let factor = MassFactor::new(model, h)?;
        Ok(Self { model, q, v, at, duration, factor, free: v.to_vec() })
    }

    /// `J` of the velocity of a point of a link along a direction, both in the world.
    pub fn jacobian(
        &self,
        link: usize,
        point: &Vector3<f64>,
        direction: &Vector3<f64>,
    ) -> Vec<f64> {
        let mut out = vec![0.0; self.free.len()];
        for &k in self.model.support(link) {
            out[k] = direction.dot(&self.at.point_column(k, point));
        }
        out
    }

    /// `J` of the angular velocity of a link along a direction, both in the world.
    pub fn angular_jacobian(&self, link: usize, direction: &Vector3<f64>) -> Vec<f64> {
        let mut out = vec![0.0; self.free.len()];
        for &k in self.model.support(link) {
            out[k] = direction.dot(&self.at.columns[k].angular);
        }
        out
    }

    /// A row without bias, compliance and bounds.
    pub fn row(&self, jacobian: Vec<f64>) -> TreeRow {
        let mut response = jacobian.clone();
        self.factor.solve(&mut response);
        let weight = jacobian.iter().zip(&response).map(|(j, r)| j * r).sum();
        let bounds = [f64::NEG_INFINITY, f64::INFINITY];
        let source = RowSource::Other;
        let (bias, compliance, impulse) = (0.0, 0.0, 0.0);
        TreeRow { jacobian, response, weight, bias, compliance, bounds, impulse, source }
    }

    /// Solves the rows of joints and closures alone, without contacts: `v⁺` and what the solve took.
    ///
    /// Projected Gauss–Seidel until a sweep leaves every residual below `tolerance` \[m/s or rad/s\]; whoever calls
    /// compares [`SolveStats::residual`] with it.
    pub fn solve(&self, sweeps: usize, tolerance: f64) -> (Vec<f64>, SolveStats) {
        let (mut rows, mut blocks) = (self.joint_rows(), self.friction_blocks());
        let mut v = self.free.clone();
        let mut stats = SolveStats::default();
        loop {
            let each = rows.iter().map(|r| r.residual(&v));
            stats.residual = each.chain(blocks.iter().map(|b| b.residual(&v))).fold(0.0, f64::max);
            if stats.residual <= tolerance || stats.sweeps == sweeps {
                return (v, stats);
            }
            for row in &mut rows {
                row.relax(&mut v);
            }
            for block in &mut blocks {
                block.relax(&mut v);
            }
            stats.sweeps += 1;
        }
    }

    /// `q⁺ = q ⊕ h v⁺`.
    pub fn advanced(&self, v: &[f64]) -> Configuration {
        let delta: Vec<f64> = v.iter().map(|v| v * self.duration).collect();
        self.q.incremented(&delta)
    }
}

/// What a drive adds to the diagonal, and its force with the velocity held, both without a row of its own.
fn implicit_drive(drive: &JointDrive, (q, v): (f64, f64), h: f64) -> (f64, f64) {
    let slope = drive.slope(h);
    match drive.effort_limit {
        None => (slope, drive.demand(q + h * v, v)),
        Some(_) if slope > 0.0 => (0.0, 0.0),
        // Torque alone: nothing depends on the velocity.
        Some(_) => (0.0, drive.force(q, v)),
    }
}
