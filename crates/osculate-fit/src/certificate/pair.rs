//! An ordered pair of a scene outside of its simulation: what a sample's law needs, at poses of one's choice.

use nalgebra::Vector3;
use osculate_contact::assembly::PairStage;
use osculate_contact::combine::{PairKind, combine};
use osculate_contact::kinematics::Pullback;
use osculate_contact::{ContactLaw, PairOverride, PairParams};
use osculate_dynamics::{Geometry, Parameters, Scene};
use osculate_geometry::collider::Collider;
use osculate_math::{Scalar, real, se3::Pose};

/// An ordered pair with its combined numbers.
#[derive(Clone, Debug)]
pub(crate) struct PairModel<T = f64> {
    /// The colliding body, by index.
    pub(crate) a: usize,
    /// The collider's body, by index.
    pub(crate) b: usize,
    /// Combined parameters.
    pub(crate) params: PairParams<T>,
    /// The collider.
    pub(crate) collider: Collider<T>,
    /// Samples relative to the centre of mass of the colliding body \[m\], body axes.
    points: Vec<Vector3<T>>,
    weights: Vec<T>,
    /// Outward unit normals, where the colliding surface has any.
    pub(crate) normals: Option<Vec<Vector3<T>>>,
    /// Centre of mass of the collider in its local frame \[m\].
    collider_center: Vector3<T>,
    /// Which of the two bodies have unknowns.
    pub(crate) moves: [bool; 2],
}

/// Centre-of-mass poses of the two bodies of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PairPoses<T = f64> {
    pub(crate) colliding: Pose<T>,
    pub(crate) collider: Pose<T>,
}

impl<T: Scalar> PairModel<T> {
    /// The pair `a` (samples) against `b` (distance); `None` where either role is missing.
    pub(crate) fn new(scene: &Scene, p: &Parameters<T>, (a, b): (usize, usize)) -> Option<Self> {
        let (body_a, body_b) = (scene.bodies.get(a)?, scene.bodies.get(b)?);
        let (numbers_a, numbers_b) = (p.bodies.get(a)?, p.bodies.get(b)?);
        body_a.samples.as_ref()?;
        // The scene was built with these numbers: their geometry is one.
        let colliding = Geometry::new(body_a, numbers_a).ok()?;
        let collider = Geometry::new(body_b, numbers_b).ok()?.collider?;
        let kind = PairKind {
            static_collider: !body_b.is_dynamic(),
            thin_colliding: body_a.collider.is_none(),
        };
        let same = |o: &osculate_dynamics::Override| o.bodies == [a, b] || o.bodies == [b, a];
        let replaced = scene.overrides.iter().position(same).and_then(|i| p.overrides.get(i));
        let none = PairOverride::default();
        Some(Self {
            a,
            b,
            params: combine(
                &numbers_a.contact,
                &numbers_b.contact,
                kind,
                replaced.unwrap_or(&none),
            ),
            collider,
            points: colliding.points.iter().map(|x| x - numbers_a.center).collect(),
            weights: colliding.weights,
            normals: colliding.normals,
            collider_center: numbers_b.center,
            moves: [body_a.is_dynamic(), body_b.is_dynamic()],
        })
    }

    /// Every pair of a scene that may touch.
    pub(crate) fn all(scene: &Scene, p: &Parameters<T>) -> Vec<Self> {
        scene.pairs().into_iter().filter_map(|pair| Self::new(scene, p, pair)).collect()
    }

    /// The pair at a stage.
    pub(crate) fn stage<'a>(
        &'a self,
        law: &'a ContactLaw,
        params: &'a PairParams<T>,
        (start, now): (&PairPoses<T>, &PairPoses<T>),
        duration: f64,
    ) -> PairStage<'a, T> {
        let pullback =
            |p: &PairPoses<T>| Pullback::new(&p.colliding, &p.collider, self.collider_center);
        PairStage {
            law,
            params,
            collider: &self.collider,
            points: &self.points,
            weights: &self.weights,
            normals: self.normals.as_deref(),
            now: pullback(now),
            start: pullback(start),
            duration,
        }
    }

    /// Radius about its centre of mass that encloses the samples of the colliding body \[m\].
    pub(crate) fn reach(&self) -> f64 {
        self.points.iter().map(|x| real(x).norm()).fold(0.0, f64::max)
    }

    /// What the collider is, in a word.
    pub(crate) fn collider_kind(&self) -> &'static str {
        match self.collider {
            Collider::HalfSpace(_) => "plane",
            Collider::Sphere(_) => "sphere",
            Collider::Cuboid(_) => "box",
            Collider::Cylinder(_) => "cylinder",
            Collider::Grid(_) | Collider::FreeGrid(_) => "grid",
            Collider::Mesh(_) => "mesh",
        }
    }
}
