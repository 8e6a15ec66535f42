//! Every number that a trajectory of the impulse model depends on, and its place in one flat vector.
//!
//! Bodies, gravity, pairs and wrenches are those of [`Parameters`]; surfaces and the laws of the contact rows are added. Paths:
//! `cube.mu`, `cube.restitution`, `cube.collider.half_extent_x`, `pair.cube.ground.mu`, `impulse.erp`, `impulse.anchor_beta`, …

use super::ellipsoid;
use crate::impulse::settings::{ImpulseSettings, NormalLaw};
use crate::impulse::simulate::{ImpulseRunError, ImpulseSimulator, ImpulseTrajectory};
use crate::layout::Place;
use crate::{ImpulseSurface, Layout, Parameters, Scene};
use osculate_contact::impulse::normal::{NormalRow, Rigid, SpringDamper};
use osculate_contact::impulse::torsion::effective_radius;
use osculate_math::Scalar;

/// Every number of a scene solved with impulses.
#[derive(Clone, Debug, PartialEq)]
pub struct ImpulseParameters<T = f64> {
    /// Bodies, gravity, pairs and wrenches. Of the contact parameters only `mu` acts.
    pub scene: Parameters<T>,
    /// Coefficient of restitution of each body \[–\].
    pub restitution: Vec<T>,
    /// Radius of spin friction of each body \[m\].
    pub torsional_radius: Vec<T>,
    /// Radius of each body \[m\] that makes that of spin friction grow with the overlap.
    pub torsional_patch_radius: Vec<T>,
    /// Coefficient of spin of each body \[m\]; it acts with `condim` 4 and 6.
    pub spin_friction: Vec<T>,
    /// Coefficient of rolling of each body \[m\]; it acts with `condim` 6.
    pub rolling_friction: Vec<T>,
    /// Numbers of the normal law, in the order of [`ImpulseParameters::normal_names`].
    pub normal: Vec<T>,
    /// `β` of patch friction \[–\].
    pub anchor_beta: T,
    /// Factor on every friction coefficient \[–\].
    pub friction_scale: T,
}

const RIGID: [(&str, &str); 5] = [
    ("erp", ""),
    ("slop", "m"),
    ("cfm", "1/kg"),
    ("speculative", ""),
    ("max_correction_speed", "m/s"),
];
const SPRING: [(&str, &str); 2] = [("normal_stiffness", "N/m"), ("normal_damping", "N s/m")];

impl ImpulseParameters {
    /// The numbers of a simulation, with the wrenches of `scene`.
    pub fn of(simulator: &ImpulseSimulator, scene: Parameters) -> Self {
        let (settings, bodies) = (simulator.settings(), &simulator.scene().bodies);
        let normal = match settings.normal {
            NormalLaw::Rigid(r) => {
                vec![r.correction, r.slop, r.softness, r.speculative, r.max_correction_speed]
            }
            NormalLaw::SpringDamper(s) => vec![s.stiffness, s.damping],
        };
        Self {
            scene,
            restitution: bodies.iter().map(|b| b.impulse.restitution).collect(),
            torsional_radius: bodies.iter().map(|b| b.impulse.torsional_radius).collect(),
            torsional_patch_radius: bodies
                .iter()
                .map(|b| b.impulse.torsional_patch_radius)
                .collect(),
            spin_friction: bodies.iter().map(|b| b.impulse.spin_friction).collect(),
            rolling_friction: bodies.iter().map(|b| b.impulse.rolling_friction).collect(),
            normal,
            anchor_beta: settings.anchor_beta,
            friction_scale: settings.friction_scale,
        }
    }

    /// The same numbers as constants of another scalar.
    pub fn lift<T: Scalar>(&self) -> ImpulseParameters<T> {
        let all = |x: &[f64]| x.iter().copied().map(T::from).collect();
        ImpulseParameters {
            scene: self.scene.lift(),
            restitution: all(&self.restitution),
            torsional_radius: all(&self.torsional_radius),
            torsional_patch_radius: all(&self.torsional_patch_radius),
            spin_friction: all(&self.spin_friction),
            rolling_friction: all(&self.rolling_friction),
            normal: all(&self.normal),
            anchor_beta: T::from(self.anchor_beta),
            friction_scale: T::from(self.friction_scale),
        }
    }

    /// Rolls a simulation out with these numbers instead of its own.
    ///
    /// # Errors
    /// Where a number is out of its range, the parameters do not fit the scene, or a step fails.
    pub fn run(&self, simulator: &ImpulseSimulator) -> Result<ImpulseTrajectory, ImpulseRunError> {
        let mut trajectory = ImpulseTrajectory::default();
        self.run_into(simulator, &mut trajectory)?;
        Ok(trajectory)
    }

    /// As [`ImpulseParameters::run`].
    ///
    /// # Errors
    /// As [`ImpulseSimulator::run_into`]; the steps before the failure stay in the trajectory.
    pub fn run_into(
        &self,
        simulator: &ImpulseSimulator,
        trajectory: &mut ImpulseTrajectory,
    ) -> Result<(), ImpulseRunError> {
        let mut scene = simulator.scene().clone();
        for (i, body) in scene.bodies.iter_mut().enumerate() {
            body.impulse.restitution = self.restitution[i];
            body.impulse.torsional_radius = self.torsional_radius[i];
            body.impulse.torsional_patch_radius = self.torsional_patch_radius[i];
            body.impulse.spin_friction = self.spin_friction[i];
            body.impulse.rolling_friction = self.rolling_friction[i];
        }
        let settings = self.settings(simulator.settings());
        let mut with = ImpulseSimulator::new(scene, settings, simulator.durations().to_vec())?;
        if let Some(flag) = simulator.interrupt() {
            with.interrupt_by(flag.clone());
        }
        with.run_into(&self.scene, trajectory)
    }
}

impl<T: Scalar> ImpulseParameters<T> {
    /// Names and units of the numbers of a normal law.
    pub fn normal_names(law: &NormalLaw) -> &'static [(&'static str, &'static str)] {
        match law {
            NormalLaw::Rigid(_) => &RIGID,
            NormalLaw::SpringDamper(_) => &SPRING,
        }
    }

    /// The row of a gap \[m\] in a step of `duration` \[s\].
    pub(super) fn row(&self, law: &NormalLaw, gap: T, duration: f64) -> NormalRow<T> {
        row(&self.normal, law, gap, duration)
    }

    /// Coefficient of a pair of bodies \[–\].
    pub(super) fn friction(
        &self,
        scene: &Scene,
        settings: &ImpulseSettings,
        [a, b]: [usize; 2],
    ) -> T {
        let replaced = replaced(scene, [a, b]).and_then(|o| self.scene.overrides[o].friction);
        let of = |i: usize| self.scene.bodies[i].contact.friction;
        let surfaces = [a, b].map(|i| &scene.bodies[i].impulse);
        let own = || ImpulseSurface::sliding(surfaces, [of(a), of(b)], settings.combine);
        self.friction_scale * replaced.unwrap_or_else(own)
    }

    /// Which of two bodies has the larger of its numbers, the first at a tie.
    pub(super) fn larger(&self, of: &[T], [a, b]: [usize; 2]) -> usize {
        if of[b] > of[a] { b } else { a }
    }

    /// Radius of spin friction of a pair of bodies at a gap \[m\]: of the larger of their numbers, the first at a tie.
    pub(super) fn spin_radius(&self, bodies: [usize; 2], gap: T) -> T {
        let (radii, patches) = (&self.torsional_radius, &self.torsional_patch_radius);
        let [least, patch] = [radii, patches].map(|of| of[self.larger(of, bodies)]);
        effective_radius(least, patch, gap)
    }

    /// Coefficient of spin of a pair of bodies \[m\], likewise.
    pub(super) fn spin_friction(&self, bodies: [usize; 2]) -> T {
        self.spin_friction[self.larger(&self.spin_friction, bodies)]
    }

    /// Coefficient of rolling of a pair of bodies \[m\], likewise.
    pub(super) fn rolling_friction(&self, bodies: [usize; 2]) -> T {
        self.rolling_friction[self.larger(&self.rolling_friction, bodies)]
    }

    /// Coefficient of restitution of a pair of bodies \[–\].
    pub(super) fn restitution(&self, [a, b]: [usize; 2]) -> T {
        (self.restitution[a] + self.restitution[b]) * 0.5
    }
}

impl ImpulseParameters {
    /// Settings with these numbers instead of their own.
    pub(super) fn settings(&self, own: &ImpulseSettings) -> ImpulseSettings {
        ImpulseSettings {
            normal: self.law(&own.normal),
            anchor_beta: self.anchor_beta,
            friction_scale: self.friction_scale,
            ..*own
        }
    }

    fn law(&self, kind: &NormalLaw) -> NormalLaw {
        let x = &self.normal;
        match kind {
            NormalLaw::Rigid(_) => NormalLaw::Rigid(Rigid {
                correction: x[0],
                slop: x[1],
                softness: x[2],
                speculative: x[3],
                max_correction_speed: x[4],
            }),
            NormalLaw::SpringDamper(_) => {
                NormalLaw::SpringDamper(SpringDamper { stiffness: x[0], damping: x[1] })
            }
        }
    }
}

/// The row of a law of this kind with other numbers.
pub(super) fn row<T: Scalar>(x: &[T], law: &NormalLaw, gap: T, duration: f64) -> NormalRow<T> {
    match law {
        NormalLaw::Rigid(_) => Rigid {
            correction: x[0],
            slop: x[1],
            softness: x[2],
            speculative: x[3],
            max_correction_speed: x[4],
        }
        .row(gap, duration),
        NormalLaw::SpringDamper(_) => {
            SpringDamper { stiffness: x[0], damping: x[1] }.row(gap, duration)
        }
    }
}

/// The override that replaces the coefficient of two bodies, the first that names it.
pub(super) fn replaced(scene: &Scene, [a, b]: [usize; 2]) -> Option<usize> {
    let same = |pair: [usize; 2]| pair == [a, b] || pair == [b, a];
    scene.overrides.iter().position(|o| same(o.bodies) && o.values.friction.is_some())
}

/// Where a number stands in [`ImpulseParameters`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ImpulsePlace {
    /// One of [`Parameters`], by its index in their layout.
    Scene(usize, Place),
    Restitution(usize),
    TorsionalRadius(usize),
    TorsionalPatchRadius(usize),
    SpinFriction(usize),
    RollingFriction(usize),
    Normal(usize),
    AnchorBeta,
    FrictionScale,
}

/// What a parameter is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImpulseParameterInfo {
    /// Path, unique in the scene.
    pub path: String,
    /// Unit, empty for a pure number.
    pub unit: &'static str,
    place: ImpulsePlace,
}

/// The flat order of the parameters of a simulation with impulses.
#[derive(Clone, Debug, PartialEq)]
pub struct ImpulseLayout {
    base: Layout,
    entries: Vec<ImpulseParameterInfo>,
}

/// Index of `mu` among the contact parameters of a body, and among those of a pair.
pub(super) const MU: (usize, usize) = (5, 3);

impl ImpulseLayout {
    /// The order for a simulation, with the wrenches that `parameters` have.
    pub fn new(simulator: &ImpulseSimulator, parameters: &ImpulseParameters) -> Self {
        let base = Layout::new(simulator.scene(), &parameters.scene);
        let mut entries = Vec::with_capacity(base.len());
        for (i, entry) in base.entries().iter().enumerate() {
            let place = base.place(i);
            let acts = match place {
                Place::Contact(_, j) => j == MU.0,
                Place::Override(_, j) => j == MU.1,
                Place::Point(..) | Place::Scale(_) | Place::Mode(..) => false,
                Place::Vertex(..) | Place::Node(..) => false,
                _ => true,
            };
            if acts {
                let place = ImpulsePlace::Scene(i, place);
                entries.push(ImpulseParameterInfo {
                    path: entry.path.clone(),
                    unit: entry.unit,
                    place,
                });
            }
        }
        let mut push = |path: String, unit, place| {
            entries.push(ImpulseParameterInfo { path, unit, place });
        };
        for (b, body) in simulator.scene().bodies.iter().enumerate() {
            push(format!("{}.restitution", body.name), "", ImpulsePlace::Restitution(b));
            let path = format!("{}.torsional_radius", body.name);
            push(path, "m", ImpulsePlace::TorsionalRadius(b));
            if parameters.torsional_patch_radius.iter().any(|r| *r > 0.0) {
                let path = format!("{}.torsional_patch_radius", body.name);
                push(path, "m", ImpulsePlace::TorsionalPatchRadius(b));
            }
            if simulator.scene().bodies.iter().any(|b| ellipsoid::has(b.impulse.condim)) {
                let path = format!("{}.spin_friction", body.name);
                push(path, "m", ImpulsePlace::SpinFriction(b));
                let path = format!("{}.rolling_friction", body.name);
                push(path, "m", ImpulsePlace::RollingFriction(b));
            }
        }
        let names = ImpulseParameters::<f64>::normal_names(&simulator.settings().normal);
        for (j, (name, unit)) in names.iter().enumerate() {
            push(format!("impulse.{name}"), unit, ImpulsePlace::Normal(j));
        }
        push("impulse.anchor_beta".into(), "", ImpulsePlace::AnchorBeta);
        push("impulse.friction_scale".into(), "", ImpulsePlace::FrictionScale);
        Self { base, entries }
    }

    /// The parameters, in order.
    pub fn entries(&self) -> &[ImpulseParameterInfo] {
        &self.entries
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Index of a path.
    pub fn index(&self, path: &str) -> Option<usize> {
        self.entries.iter().position(|e| e.path == path)
    }

    pub(super) fn place(&self, i: usize) -> ImpulsePlace {
        self.entries[i].place
    }

    /// The flat values; a rotation has the value 0.
    pub fn values(&self, parameters: &ImpulseParameters) -> Vec<f64> {
        let base = self.base.values(&parameters.scene);
        let value = |e: &ImpulseParameterInfo| match e.place {
            ImpulsePlace::Scene(i, _) => base[i],
            ImpulsePlace::Restitution(b) => parameters.restitution[b],
            ImpulsePlace::TorsionalRadius(b) => parameters.torsional_radius[b],
            ImpulsePlace::TorsionalPatchRadius(b) => parameters.torsional_patch_radius[b],
            ImpulsePlace::SpinFriction(b) => parameters.spin_friction[b],
            ImpulsePlace::RollingFriction(b) => parameters.rolling_friction[b],
            ImpulsePlace::Normal(j) => parameters.normal[j],
            ImpulsePlace::AnchorBeta => parameters.anchor_beta,
            ImpulsePlace::FrictionScale => parameters.friction_scale,
        };
        self.entries.iter().map(value).collect()
    }

    /// Adds `x` to parameter `i`; derivatives that `x` carries come along. A rotation is turned by it.
    pub fn add<T: Scalar>(&self, parameters: &mut ImpulseParameters<T>, i: usize, x: T) {
        match self.entries[i].place {
            ImpulsePlace::Scene(i, _) => self.base.add(&mut parameters.scene, i, x),
            ImpulsePlace::Restitution(b) => parameters.restitution[b] += x,
            ImpulsePlace::TorsionalRadius(b) => parameters.torsional_radius[b] += x,
            ImpulsePlace::TorsionalPatchRadius(b) => parameters.torsional_patch_radius[b] += x,
            ImpulsePlace::SpinFriction(b) => parameters.spin_friction[b] += x,
            ImpulsePlace::RollingFriction(b) => parameters.rolling_friction[b] += x,
            ImpulsePlace::Normal(j) => parameters.normal[j] += x,
            ImpulsePlace::AnchorBeta => parameters.anchor_beta += x,
            ImpulsePlace::FrictionScale => parameters.friction_scale += x,
        }
    }
}
