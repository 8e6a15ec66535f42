//! What a step did.

use super::patch::stretch_parts;
use super::solve::ImpulseStats;
use nalgebra::Vector3;
use osculate_contact::impulse::{BisectionWarning, Regime};
use osculate_geometry::manifold::{Contact, ContactPoint};

/// A contact and its impulse on the first body; the second gets the opposite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactImpulse {
    /// The two bodies.
    pub bodies: [usize; 2],
    /// The features that touch.
    pub contact: Contact,
    /// Where they touch at the start of the step.
    pub point: ContactPoint,
    /// Normal impulse \[N s\], ≥ 0.
    pub normal: f64,
    /// Friction impulse \[N s\], world; zero where friction acts at anchors.
    pub friction: Vector3<f64>,
    /// What its friction does; `None` where there is none at the contact.
    pub regime: Option<Regime>,
    /// Whether it rebounds.
    pub rebounds: bool,
    /// Which group of contacts shares its load.
    pub group: usize,
    /// Impulse of spin and rolling friction at the contact \[N m s\], world.
    pub angular: Vector3<f64>,
    /// How many impulses of it satisfy Coulomb's law while the rest of the world acts as it does: more than one where
    /// `μ‖w‖ ≥ W_N`. Counted where [`FrictionMode::CoulombNewton`](super::FrictionMode) solves normal and friction together.
    pub solutions: Option<usize>,
    /// Why a counter-example is not to be trusted here.
    pub warning: Option<BisectionWarning>,
}

impl ContactImpulse {
    /// Where its forces act: the middle of its two points \[m\], world.
    pub fn middle(&self) -> Vector3<f64> {
        (self.point.point_a + self.point.point_b) * 0.5
    }
}

/// An anchor of a region, and its impulse on the first body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnchorImpulse {
    /// The two bodies.
    pub bodies: [usize; 2],
    /// Where it stands \[m\], world.
    pub position: Vector3<f64>,
    /// Normal of its region; leaves the second body.
    pub normal: Vector3<f64>,
    /// `d`, how far the first body was dragged along the second at the start of the step \[m\], world.
    pub displacement: Vector3<f64>,
    /// Friction impulse \[N s\], world.
    pub impulse: Vector3<f64>,
    /// `Σ r_N` of its region \[N s\].
    pub load: f64,
    /// Radius of its disk \[N s\].
    pub radius: f64,
    /// What its friction does.
    pub regime: Regime,
    /// Which group of contacts carries it.
    pub group: usize,
    /// Spin impulse of its region \[N m s\], world.
    pub spin: Vector3<f64>,
    /// Whether it let go at the end of the step.
    pub released: bool,
    /// The first contact of its region and the one after its last, of the contacts of the step.
    pub contacts: [usize; 2],
    /// The other anchor of its region, of the anchors of the step.
    pub partner: Option<usize>,
    /// The anchor of the last step whose displacement it continues; none where that one let go.
    pub continues: Option<usize>,
}

impl StepRecord {
    /// The first of every two anchors of one region of which one continues another, and how they share a stretch.
    pub(crate) fn stretched(&self) -> impl Iterator<Item = (usize, [f64; 2])> {
        let anchors = &self.anchors;
        anchors.iter().enumerate().filter_map(|(i, anchor)| {
            let partner = anchor.partner.filter(|&p| p > i)?;
            Some((i, stretch_parts([anchor.continues, anchors[partner].continues])?))
        })
    }
}

/// Contacts of a step and what its solve took.
#[derive(Clone, Debug, PartialEq)]
pub struct StepRecord {
    /// The contacts.
    pub contacts: Vec<ContactImpulse>,
    /// The anchors of patch friction; none with point friction.
    pub anchors: Vec<AnchorImpulse>,
    /// What the solve took.
    pub stats: ImpulseStats,
}
