//! What touched, and energies: read off a state, for files and figures.

use crate::simulate::RunError;
use crate::system::Stage;
use crate::{Parameters, Simulator, Trajectory, Wrench};
use nalgebra::Vector3;
use osculate_contact::Status;
use osculate_math::norm;

/// One sample within reach of a collider at the end of a stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactRecord {
    /// Index of the colliding body.
    pub colliding: usize,
    /// Index of the collider's body.
    pub collider: usize,
    /// Index of the sample.
    pub sample: usize,
    /// Contact, retained or rejected.
    pub status: Status,
    /// Position \[m\], world.
    pub position: Vector3<f64>,
    /// Signed distance \[m\].
    pub distance: f64,
    /// Alignment `s` \[–\].
    pub alignment: f64,
    /// Reference area of the sample \[m²\]; forces over it are tractions \[Pa\].
    pub weight: f64,
    /// Unit direction of the collider's field at the sample, world; zero where the field has none.
    pub normal: Vector3<f64>,
    /// Force on the colliding body \[N\], world, weight included.
    pub force: Vector3<f64>,
    /// Its conservative part \[N\].
    pub elastic: Vector3<f64>,
    /// Its damping part \[N\].
    pub damping: Vector3<f64>,
    /// Its viscous friction \[N\].
    pub viscous: Vector3<f64>,
    /// Its Coulomb friction \[N\].
    pub coulomb: Vector3<f64>,
}

/// Energies of a state \[J\].
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Energies {
    /// `m v²/2 + ω·I ω/2`.
    pub kinetic: f64,
    /// `−m g·c`.
    pub gravitational: f64,
    /// Penalty energy of all contacts.
    pub contact: f64,
}

impl Simulator {
    /// Every sample within the threshold at the end of the last stage of `step` (0-based), converged values.
    ///
    /// # Errors
    /// Where the parameters do not fit the scene.
    pub fn contacts(
        &self,
        trajectory: &Trajectory,
        parameters: &Parameters,
        step: usize,
    ) -> Result<Vec<ContactRecord>, RunError> {
        let system = self.system(parameters)?;
        let tableau = self.settings().method.tableau(step + 1);
        let last = tableau.stages - 1;
        let (start, now) = trajectory.path.stage(step, last);
        let duration = tableau.duration[last] * self.durations()[step];
        let base = trajectory.path.state(step);
        let stage = Stage { now, start, base, duration, wrenches: &[], joints: None };
        let mut records = Vec::new();
        system.for_each_pair(&stage, |pair, p| {
            let rotation = now[pair.b].rotation;
            p.for_each_near(|i| {
                let t = p.traction(i);
                if t.status == Status::Apart {
                    return;
                }
                let world = |v: &Vector3<f64>| rotation * v * p.weights[i];
                records.push(ContactRecord {
                    colliding: pair.a,
                    collider: pair.b,
                    sample: i,
                    status: t.status,
                    position: now[pair.a].pose().transform_point(&p.points[i]),
                    distance: t.phi,
                    alignment: t.alignment,
                    weight: p.weights[i],
                    normal: norm::direction(&p.collider.field(&p.sample(i).position).gradient)
                        .map_or_else(Vector3::zeros, |n| rotation * n),
                    force: world(&t.total()),
                    elastic: world(&t.elastic),
                    damping: world(&t.dissipation.damping),
                    viscous: world(&t.dissipation.viscous),
                    coulomb: world(&t.dissipation.coulomb),
                });
            });
        });
        Ok(records)
    }

    /// Net contact force \[N\] and torque about the centre of mass \[N m\] on each body at the end of the last stage of
    /// `step` (0-based), world. The forces of a pair are opposite to the bit; a static body is listed too.
    ///
    /// # Errors
    /// Where the parameters do not fit the scene.
    pub fn net_contact(
        &self,
        trajectory: &Trajectory,
        parameters: &Parameters,
        step: usize,
    ) -> Result<Vec<Wrench>, RunError> {
        let records = self.contacts(trajectory, parameters, step)?;
        Ok(self.net_of(trajectory, step, &records))
    }

    /// As [`Simulator::net_contact`], of the records of that step.
    pub fn net_of(
        &self,
        trajectory: &Trajectory,
        step: usize,
        records: &[ContactRecord],
    ) -> Vec<Wrench> {
        let last = self.settings().method.tableau(step + 1).stages - 1;
        let (_, now) = trajectory.path.stage(step, last);
        let mut net = vec![Wrench::zero(); now.len()];
        for c in records {
            for (body, force) in [(c.colliding, c.force), (c.collider, -c.force)] {
                net[body].force += force;
                net[body].torque += (c.position - now[body].center).cross(&force);
            }
        }
        net
    }

    /// Samples that sit within `distance` \[m\] of the contact threshold, or within `alignment` of rejection, at the
    /// end of some step: there the default rows jump and the trajectory has no derivative across the jump.
    ///
    /// # Errors
    /// Where the parameters do not fit the scene.
    pub fn near_switch(
        &self,
        trajectory: &Trajectory,
        parameters: &Parameters,
        distance: f64,
        alignment: f64,
    ) -> Result<usize, RunError> {
        let system = self.system(parameters)?;
        let mut count = 0;
        for step in 0..self.steps() {
            let tableau = self.settings().method.tableau(step + 1);
            for stage in 0..tableau.stages {
                let (start, now) = trajectory.path.stage(step, stage);
                let duration = tableau.duration[stage] * self.durations()[step];
                let base = trajectory.path.state(step);
                let at = Stage { now, start, base, duration, wrenches: &[], joints: None };
                system.for_each_pair_within(&at, distance, |pair, p| {
                    let threshold = pair.params.threshold;
                    for i in 0..p.points.len() {
                        let t = p.traction(i);
                        let leaving = (t.phi - threshold).abs() < distance;
                        let turning = p.normals.is_some()
                            && matches!(t.status, Status::Contact | Status::Rejected)
                            && (t.alignment - pair.params.max_alignment).abs() < alignment;
                        count += usize::from(leaving || turning);
                    }
                });
            }
        }
        Ok(count)
    }

    /// Energies after `step` steps.
    ///
    /// # Errors
    /// Where the parameters do not fit the scene.
    pub fn energies(
        &self,
        trajectory: &Trajectory,
        parameters: &Parameters,
        step: usize,
    ) -> Result<Energies, RunError> {
        let system = self.system(parameters)?;
        let states = trajectory.path.state(step);
        let mut energies = Energies::default();
        for (i, body) in system.bodies.iter().enumerate() {
            if system.unknown[i].is_some() {
                let (y, inertia) = (&states[i], parameters.bodies[i].inertia);
                let spin = y.rotation.transpose() * y.angular_velocity();
                energies.kinetic += 0.5 * body.mass * y.velocity.norm_squared();
                energies.kinetic += 0.5 * spin.dot(&(inertia * spin));
                if self.scene().bodies[i].gravity {
                    energies.gravitational -= body.mass * system.gravity.dot(&y.center);
                }
            }
        }
        let (now, start, base) = (states, states, states);
        let stage = Stage { now, start, base, duration: 1.0, wrenches: &[], joints: None };
        system.for_each_pair(&stage, |_, p| {
            p.for_each_near(|i| {
                let w = p.law.energy_density(p.params, p.collider, &p.sample(i));
                energies.contact += w * p.weights[i];
            });
        });
        Ok(energies)
    }
}
