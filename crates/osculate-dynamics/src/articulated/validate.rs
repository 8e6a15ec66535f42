//! Checks of an articulated model, done once.

use super::error::ModelError;
use super::laws::{JointDrive, JointFriction, JointLimits};
use super::model::{Link, LoopClosure};
use super::{JointKind, JointPosition};
use nalgebra::{Matrix3, Vector3};
use osculate_geometry::mass::MassProperties;
use osculate_math::se3::Pose;

/// How far a unit vector or a rotation may be from one; rounding of a file with ten digits passes.
const UNIT: f64 = 1e-9;

const FINITE: &str = "finite";
const POSITIVE: &str = "> 0 and finite";
const NOT_NEGATIVE: &str = "≥ 0 and finite";

/// Who is checked, for messages.
#[derive(Clone, Copy)]
struct Owner<'a> {
    what: &'static str,
    name: &'a str,
}

impl Owner<'_> {
    fn demand(
        self,
        holds: bool,
        field: &'static str,
        found: f64,
        allowed: &'static str,
    ) -> Result<(), ModelError> {
        if holds {
            return Ok(());
        }
        Err(ModelError::Number {
            what: self.what,
            name: self.name.to_owned(),
            field,
            found,
            allowed,
        })
    }

    fn positive(self, field: &'static str, x: f64) -> Result<(), ModelError> {
        self.demand(x > 0.0 && x.is_finite(), field, x, POSITIVE)
    }

    fn not_negative(self, field: &'static str, x: f64) -> Result<(), ModelError> {
        self.demand(x >= 0.0 && x.is_finite(), field, x, NOT_NEGATIVE)
    }

    fn finite(self, field: &'static str, x: f64) -> Result<(), ModelError> {
        self.demand(x.is_finite(), field, x, FINITE)
    }

    fn pose(self, field: &'static str, x: &Pose) -> Result<(), ModelError> {
        for p in x.position.iter() {
            self.finite(field, *p)?;
        }
        let defect = (x.rotation.transpose() * x.rotation - Matrix3::identity()).norm();
        self.demand(defect < UNIT, field, defect, "a rotation: RᵀR − 1 below 1e-9")?;
        let determinant = x.rotation.determinant();
        self.demand(determinant > 0.0, field, determinant, "a rotation: determinant 1")
    }

    fn axis(self, axis: &Vector3<f64>) -> Result<(), ModelError> {
        let length = axis.norm();
        self.demand((length - 1.0).abs() < UNIT, "length of the axis", length, "1")
    }
}

fn unique<'a>(what: &'static str, names: impl Iterator<Item = &'a str>) -> Result<(), ModelError> {
    let mut seen = std::collections::BTreeSet::new();
    for (index, name) in names.enumerate() {
        if name.is_empty() {
            return Err(ModelError::Unnamed { what, index });
        }
        if !seen.insert(name) {
            return Err(ModelError::DuplicateName { what, name: name.to_owned() });
        }
    }
    Ok(())
}

pub(super) fn names(links: &[Link], closures: &[LoopClosure]) -> Result<(), ModelError> {
    unique("link", links.iter().map(|l| l.name.as_str()))?;
    unique("closure", closures.iter().map(|c| c.name.as_str()))
}

pub(super) fn parents(links: &[Link]) -> Result<(), ModelError> {
    for link in links {
        if let Some(parent) = link.parent.filter(|&p| p >= links.len()) {
            return Err(ModelError::UnknownParent {
                link: link.name.clone(),
                parent: parent.to_string(),
            });
        }
    }
    for (index, link) in links.iter().enumerate() {
        let Some(parent) = link.parent.filter(|&p| p >= index) else { continue };
        // Its ancestors, until the world or a link met before.
        let (mut met, mut next) = (vec![index], Some(parent));
        while let Some(p) = next {
            if let Some(start) = met.iter().position(|&m| m == p) {
                let names = met[start..].iter().map(|&m| links[m].name.clone()).collect();
                return Err(ModelError::Cycle { names });
            }
            met.push(p);
            next = links[p].parent;
        }
        return Err(ModelError::Order { link: link.name.clone(), index, parent });
    }
    Ok(())
}

pub(super) fn link(link: &Link) -> Result<(), ModelError> {
    let owner = Owner { what: "link", name: &link.name };
    let joint = &link.joint;
    if let JointKind::Revolute { axis } | JointKind::Prismatic { axis } = &joint.kind {
        owner.axis(axis)?;
    }
    owner.pose("placement of the joint", &joint.placement)?;
    owner.pose("offset of the joint", &joint.offset)?;
    let (own, beyond) = joint.armature.split_at(joint.kind.dofs());
    for &a in own {
        owner.not_negative("armature", a)?;
    }
    for &a in beyond {
        let absent = a.abs() <= 0.0;
        owner.demand(absent, "armature beyond the degrees of freedom", a, "0")?;
    }
    laws(link, owner)?;
    mass(link, owner)
}

/// A position of a joint is finite, and its rotation is one.
pub(super) fn position(name: &str, position: &JointPosition) -> Result<(), ModelError> {
    let owner = Owner { what: "link", name };
    match position {
        JointPosition::None => Ok(()),
        JointPosition::Scalar(x) => owner.finite("position of the joint", *x),
        JointPosition::Rotation(r) => {
            owner.pose("position of the joint", &Pose { rotation: *r, ..Pose::identity() })
        }
        JointPosition::Pose(x) => owner.pose("position of the joint", x),
    }
}

fn laws(link: &Link, owner: Owner<'_>) -> Result<(), ModelError> {
    let kind = &link.joint.kind;
    let absent = |law| ModelError::Law { link: link.name.clone(), kind: kind.name(), law };
    let laws = &link.joint.laws;
    friction(&laws.friction, owner)?;
    if laws.friction.acts() && matches!(kind, JointKind::Fixed) {
        return Err(absent("friction"));
    }
    if let Some(l) = &laws.limits {
        if !kind.is_scalar() {
            return Err(absent("limits"));
        }
        limits(l, owner)?;
    }
    if let Some(d) = &laws.drive {
        if !kind.is_scalar() {
            return Err(absent("drive"));
        }
        drive(d, owner)?;
    }
    Ok(())
}

fn friction(f: &JointFriction, owner: Owner<'_>) -> Result<(), ModelError> {
    owner.not_negative("viscous friction", f.viscous)?;
    owner.not_negative("Coulomb friction", f.coulomb)?;
    owner.not_negative("extra stiction", f.stiction_extra)?;
    owner.positive("Stribeck speed", f.stribeck_speed)?;
    owner.positive("falloff speed", f.falloff_speed)
}

fn limits(l: &JointLimits, owner: Owner<'_>) -> Result<(), ModelError> {
    owner.demand(!l.lower.is_nan(), "lower limit", l.lower, "a number or −∞")?;
    owner.demand(l.upper >= l.lower, "upper limit", l.upper, "not below the lower limit")?;
    owner.positive("stiffness of the limits", l.stiffness)?;
    owner.not_negative("damping of the limits", l.damping)
}

fn drive(d: &JointDrive, owner: Owner<'_>) -> Result<(), ModelError> {
    owner.finite("effort of the drive", d.effort)?;
    owner.not_negative("stiffness of the drive", d.stiffness)?;
    owner.not_negative("damping of the drive", d.damping)?;
    owner.finite("target of the drive", d.target)?;
    owner.finite("target velocity of the drive", d.target_velocity)?;
    match d.effort_limit {
        Some(limit) => owner.positive("effort limit of the drive", limit),
        None => Ok(()),
    }
}

fn mass(link: &Link, owner: Owner<'_>) -> Result<(), ModelError> {
    let m = &link.inertia;
    owner.not_negative("mass", m.mass)?;
    if m.mass > 0.0 {
        return MassProperties::new(m.mass, m.center, m.inertia)
            .map(|_| ())
            .map_err(|source| ModelError::Mass { link: link.name.clone(), source });
    }
    let inertia = m.inertia.amax();
    owner.demand(inertia <= 0.0, "inertia of a link without mass", inertia, "0")
}

/// Every moving joint carries some mass.
pub(super) fn carried_mass(links: &[Link]) -> Result<(), ModelError> {
    let mut carried: Vec<f64> = links.iter().map(|l| l.inertia.mass).collect();
    for (i, link) in links.iter().enumerate().rev() {
        if let Some(p) = link.parent {
            carried[p] += carried[i];
        }
    }
    for (link, mass) in links.iter().zip(carried) {
        if link.joint.kind.dofs() > 0 && mass <= 0.0 {
            let kind = link.joint.kind.name();
            return Err(ModelError::Massless { link: link.name.clone(), kind });
        }
    }
    Ok(())
}

pub(super) fn closure(closure: &LoopClosure, links: usize) -> Result<(), ModelError> {
    let owner = Owner { what: "closure", name: &closure.name };
    for a in [&closure.first, &closure.second] {
        if let Some(index) = a.link.filter(|&i| i >= links) {
            return Err(ModelError::UnknownLink { closure: closure.name.clone(), index, links });
        }
        owner.pose("frame", &a.frame)?;
    }
    if closure.first.link == closure.second.link {
        return Err(ModelError::SelfClosure { closure: closure.name.clone() });
    }
    owner.positive("stiffness", closure.stiffness)?;
    owner.not_negative("damping", closure.damping)
}
