//! From the derivatives by states and by the numbers of the laws to those of the layout's parameters.

use super::ImpulseLayout;
use super::adjoint::Sweep;
use super::parameters::{ImpulsePlace, replaced};
use super::tree::TreeSweep;
use crate::ImpulseSurface;
use crate::layout::{INERTIA, Place as ScenePlace};
use osculate_math::Jet;

impl Sweep<'_> {
    /// The derivatives in the order of the layout.
    pub(super) fn collect(self) -> Vec<f64> {
        let source = self.source;
        let (scene, parameters) = (source.simulator.scene(), source.parameters);
        let mut friction = vec![0.0; scene.bodies.len()];
        let mut overrides = vec![0.0; scene.overrides.len()];
        let mut scale = 0.0;
        for (bodies, bar) in &self.total.friction {
            let mu = |i: usize, k: usize| {
                Jet::<2>::variable(parameters.scene.bodies[bodies[i]].contact.friction, k)
            };
            let surfaces = bodies.map(|i| &scene.bodies[i].impulse);
            let mode = source.settings.combine;
            let combined = ImpulseSurface::sliding(surfaces, [mu(0, 0), mu(1, 1)], mode);
            let factor = parameters.friction_scale;
            match replaced(scene, *bodies) {
                Some(o) => {
                    overrides[o] += bar * factor;
                    scale += bar * parameters.scene.overrides[o].friction.unwrap_or(0.0);
                }
                None => {
                    friction[bodies[0]] += bar * factor * combined.eps[0];
                    friction[bodies[1]] += bar * factor * combined.eps[1];
                    scale += bar * combined.re;
                }
            }
        }
        let layout = ImpulseLayout::new(source.simulator, parameters);
        let at = |i: usize| match layout.place(i) {
            ImpulsePlace::Scene(_, place) => self.at(place, &friction, &overrides),
            ImpulsePlace::Restitution(b) => self.total.restitution[b],
            ImpulsePlace::TorsionalRadius(b) => self.total.torsional_radius[b],
            ImpulsePlace::TorsionalPatchRadius(b) => self.total.torsional_patch_radius[b],
            ImpulsePlace::SpinFriction(b) => self.total.spin_friction[b],
            ImpulsePlace::RollingFriction(b) => self.total.rolling_friction[b],
            ImpulsePlace::Normal(j) => self.total.normal[j],
            ImpulsePlace::AnchorBeta => self.total.anchor_beta,
            ImpulsePlace::FrictionScale => scale,
        };
        (0..layout.len()).map(at).collect()
    }

    fn joint(&self, get: impl Fn(&TreeSweep<'_>) -> f64) -> f64 {
        self.tree.as_ref().map_or(0.0, get)
    }

    fn at(&self, place: ScenePlace, friction: &[f64], overrides: &[f64]) -> f64 {
        let (bars, total) = (&self.bars, &self.total);
        let body = |b: usize| &self.source.parameters.scene.bodies[b];
        match place {
            ScenePlace::Contact(b, _) => friction[b],
            ScenePlace::Override(o, _) => overrides[o],
            ScenePlace::Dimension(b, j) => total.dimensions[b][j],
            ScenePlace::Mass(b) => total.mass[b],
            ScenePlace::Center(b, k) => {
                let joints = self.source.joints.as_ref();
                let link = joints.and_then(|j| j.bodies.iter().position(|&x| x == b));
                match link {
                    Some(link) => total.center[b][k] + self.joint(|s| s.total.centers[link][k]),
                    None => (total.center[b] + body(b).rotation.tr_mul(&bars[b].center))[k],
                }
            }
            ScenePlace::Inertia(b, j) => {
                let (r, c, _) = INERTIA[j];
                let i = &total.inertia[b];
                if r == c { i[(r, c)] } else { i[(r, c)] + i[(c, r)] }
            }
            ScenePlace::Position(b, k) => bars[b].center[k],
            ScenePlace::Rotation(b, k) => {
                let arm = body(b).rotation * body(b).center;
                (bars[b].rotation + arm.cross(&bars[b].center))[k]
            }
            ScenePlace::Velocity(b, k) => bars[b].velocity[k],
            ScenePlace::AngularVelocity(b, k) => bars[b].angular_velocity[k],
            ScenePlace::Gravity(k) => total.gravity[k],
            ScenePlace::Force(i, k) => total.wrenches[i][0][k],
            ScenePlace::Torque(i, k) => total.wrenches[i][1][k],
            ScenePlace::JointNumber(i, j) => self.joint(|s| s.total.terms.numbers[i][j]),
            ScenePlace::Placement(i, k) => self.joint(|s| s.total.placements[i][k]),
            ScenePlace::Offset(i, k) => self.joint(|s| s.total.offsets[i][k]),
            ScenePlace::JointPosition(k) => self.joint(|s| s.bar.position[k]),
            ScenePlace::JointRate(k) => self.joint(|s| s.bar.rate[k]),
            ScenePlace::Effort(i) => self.joint(|s| s.total.terms.efforts[i]),
            ScenePlace::Target(i) => self.joint(|s| s.total.terms.targets[i]),
            ScenePlace::Closure(i, j) => self.joint(|s| s.total.closures[i].numbers[j]),
            ScenePlace::ClosureFrame(i, side, k) => {
                self.joint(|s| s.total.closures[i].frames[side][k])
            }
            // Not of this model: the layout does not list them.
            _ => 0.0,
        }
    }
}
