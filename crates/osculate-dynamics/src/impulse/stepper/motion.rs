//! Motion of the bodies without contact, and with the velocities that a solve found.

use super::ImpulseStepper;
use crate::Wrench;
use crate::articulated::immediate::TreeResponse;
use crate::impulse::ImpulseStepError;
use crate::impulse::body::RigidState;
use crate::impulse::row::Velocities;
use crate::impulse::system::Item;
use crate::impulse::tree::Trees;
use nalgebra::Vector3;

impl ImpulseStepper {
    /// Velocities at the start and without contact.
    pub(super) fn free_velocities(
        &self,
        wrenches: &[Wrench],
        h: f64,
    ) -> Result<[Vec<Vector3<f64>>; 2], ImpulseStepError> {
        let mut start = Vec::with_capacity(self.system.unknowns());
        let mut free = Vec::with_capacity(self.system.unknowns());
        for (i, (item, state)) in self.system.items.iter().zip(&self.states).enumerate() {
            let (Some(inertia), Some(_)) = (&item.inertia, item.unknown) else { continue };
            let applied = item.dynamic.and_then(|d| wrenches.get(d));
            let wrench = applied.copied().unwrap_or_else(Wrench::zero);
            let weight = if item.has_gravity {
                self.system.gravity * inertia.mass
            } else {
                Vector3::zeros()
            };
            let forces = [wrench.force + weight, wrench.torque];
            let v = inertia.free_velocity(state, &forces, h, self.settings.gyroscopic);
            let v = v.map_err(|source| ImpulseStepError::TurnsTooFast {
                step: self.step,
                body: self.names[i].clone(),
                angle: source.angle,
            })?;
            start.extend([state.velocity, state.angular_velocity]);
            free.extend(v);
        }
        Ok([start, free])
    }

    /// Velocities of every body without contact.
    pub(super) fn ahead(
        &self,
        free: &Velocities,
        (trees, responses): (&Trees, &[TreeResponse<'_>]),
        h: f64,
    ) -> Vec<[Vector3<f64>; 2]> {
        let mut ahead = self.system.prescribed(&self.states, self.step, h);
        for (item, ahead) in self.system.items.iter().zip(&mut ahead) {
            if let Some(u) = item.unknown {
                *ahead = [free[u], free[u + 1]];
            }
        }
        trees.write_ahead(responses, &mut ahead);
        ahead
    }

    /// States at the end of a step, but for links.
    pub(super) fn advanced(&self, v: &Velocities, h: f64) -> Vec<RigidState> {
        let advance = |(item, state): (&Item, &RigidState)| match item.unknown {
            Some(at) => state.advanced(&[v[at], v[at + 1]], h),
            None => match item.motion.get(self.step) {
                Some(next) => {
                    RigidState { center: next.position, rotation: next.rotation, ..*state }
                }
                None => *state,
            },
        };
        self.system.items.iter().zip(&self.states).map(advance).collect()
    }

    pub(super) fn check_finite(&self, states: &[RigidState]) -> Result<(), ImpulseStepError> {
        let finite = |s: &RigidState| {
            let vectors = [s.center, s.velocity, s.angular_velocity];
            vectors.iter().all(|v| v.iter().all(|x| x.is_finite()))
                && s.rotation.iter().all(|x| x.is_finite())
        };
        match states.iter().position(|s| !finite(s)) {
            None => Ok(()),
            Some(i) => {
                Err(ImpulseStepError::Diverged { step: self.step, body: self.names[i].clone() })
            }
        }
    }
}
