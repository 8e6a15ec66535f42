//! The description of a tree of links.

use super::error::ModelError;
use super::joint::{Joint, map_pose};
use super::validate;
use super::{Configuration, JointKind};
use nalgebra::{Matrix3, Vector3};
use osculate_geometry::mass::MassProperties;
use osculate_math::Scalar;
use osculate_math::se3::Pose;
use std::ops::Range;

/// Mass properties of a link in its own frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkInertia<T = f64> {
    /// Mass \[kg\], ≥ 0.
    pub mass: T,
    /// Centre of mass in the link's frame \[m\].
    pub center: Vector3<T>,
    /// Inertia about the centre of mass, link axes \[kg m²\].
    pub inertia: Matrix3<T>,
}

/// A link with the joint that holds it.
#[derive(Clone, Debug, PartialEq)]
pub struct Link<T = f64> {
    /// Name, unique in the model.
    pub name: String,
    /// Index of the parent link, less than its own; `None` for the world.
    pub parent: Option<usize>,
    /// The joint to the parent.
    pub joint: Joint<T>,
    /// Mass properties.
    pub inertia: LinkInertia<T>,
}

/// A frame of a link, or of the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attachment<T = f64> {
    /// Index of the link; `None` for the world.
    pub link: Option<usize>,
    /// Pose of the frame in the link's frame.
    pub frame: Pose<T>,
}

/// What a loop closure holds together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClosureKind {
    /// The two origins.
    Ball,
    /// The two origins and the two z axes: free to turn about z.
    Revolute,
    /// The two frames.
    Fixed,
}

/// A compliant constraint between two frames, energy `k|g|²/2 + d|g − g(q⁰)|²/(2Δt)`.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopClosure<T = f64> {
    /// Name, unique among the closures.
    pub name: String,
    /// What it holds together.
    pub kind: ClosureKind,
    /// One frame.
    pub first: Attachment<T>,
    /// The other.
    pub second: Attachment<T>,
    /// `k` \[N/m; N m/rad for the rotational part\], > 0; 10⁶ by default.
    pub stiffness: T,
    /// `d` \[N s/m; N m s/rad for the rotational part\], ≥ 0.
    pub damping: T,
}

/// A forest of links with compliant loop closures, checked.
///
/// Links stand in topological order: a parent before its children. Degrees of freedom are numbered in the order
/// of the links. [`ArticulatedModel::lift`] gives the same model in another scalar, whose numbers may then be
/// seeded through the `…_mut` functions.
#[derive(Clone, Debug, PartialEq)]
pub struct ArticulatedModel<T = f64> {
    links: Vec<Link<T>>,
    closures: Vec<LoopClosure<T>>,
    topology: Topology,
}

/// What follows from the parents and the kinds of joints.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
struct Topology {
    /// Degrees of freedom of each link's own joint.
    dofs: Vec<Range<usize>>,
    /// Degrees of freedom that move each link, ascending.
    support: Vec<Vec<usize>>,
    /// Link whose joint has the degree of freedom.
    link_of: Vec<usize>,
}

impl LinkInertia {
    /// No mass.
    pub fn massless() -> Self {
        Self { mass: 0.0, center: Vector3::zeros(), inertia: Matrix3::zeros() }
    }
}

impl From<MassProperties> for LinkInertia {
    fn from(m: MassProperties) -> Self {
        Self { mass: m.mass(), center: m.center_of_mass(), inertia: m.inertia() }
    }
}

impl<T: Scalar> LoopClosure<T> {
    /// A closure with stiffness 10⁶ and no damping.
    pub fn new(name: &str, kind: ClosureKind, first: Attachment<T>, second: Attachment<T>) -> Self {
        let (stiffness, damping) = (T::from(1e6), T::zero());
        Self { name: name.to_owned(), kind, first, second, stiffness, damping }
    }

    fn map<U: Scalar>(&self, f: &impl Fn(T) -> U) -> LoopClosure<U> {
        let attachment =
            |a: &Attachment<T>| Attachment { link: a.link, frame: map_pose(&a.frame, f) };
        LoopClosure {
            name: self.name.clone(),
            kind: self.kind,
            first: attachment(&self.first),
            second: attachment(&self.second),
            stiffness: f(self.stiffness),
            damping: f(self.damping),
        }
    }
}

impl Topology {
    fn of<T>(links: &[Link<T>]) -> Self {
        let mut out = Self::default();
        for (i, link) in links.iter().enumerate() {
            let own = out.link_of.len()..out.link_of.len() + link.joint.kind.dofs();
            let mut support = link.parent.map_or_else(Vec::new, |p| out.support[p].clone());
            support.extend(own.clone());
            out.link_of.extend(own.clone().map(|_| i));
            out.support.push(support);
            out.dofs.push(own);
        }
        out
    }
}

impl ArticulatedModel {
    /// Checks a description.
    ///
    /// # Errors
    /// Where a name is empty or given twice, a parent or an attached link does not exist or stands after its
    /// child, links form a cycle, an axis or a rotation is not one, a number is outside its range, a law does not
    /// fit its joint, or a moving joint carries no mass.
    pub fn new(links: Vec<Link>, closures: Vec<LoopClosure>) -> Result<Self, ModelError> {
        validate::names(&links, &closures)?;
        validate::parents(&links)?;
        for link in &links {
            validate::link(link)?;
        }
        validate::carried_mass(&links)?;
        for closure in &closures {
            validate::closure(closure, links.len())?;
        }
        let topology = Topology::of(&links);
        Ok(Self { links, closures, topology })
    }
}

impl<T: Scalar> ArticulatedModel<T> {
    /// The links, parents before children.
    pub fn links(&self) -> &[Link<T>] {
        &self.links
    }

    /// The loop closures.
    pub fn closures(&self) -> &[LoopClosure<T>] {
        &self.closures
    }

    /// Number of degrees of freedom.
    pub fn dofs(&self) -> usize {
        self.topology.link_of.len()
    }

    /// Degrees of freedom of the joint of link `i`.
    pub fn joint_dofs(&self, i: usize) -> Range<usize> {
        self.topology.dofs[i].clone()
    }

    /// Degrees of freedom that move link `i`, ascending: those of its own joint and of its ancestors'.
    pub fn support(&self, i: usize) -> &[usize] {
        &self.topology.support[i]
    }

    /// The link whose joint has degree of freedom `k`.
    pub fn link_of(&self, k: usize) -> usize {
        self.topology.link_of[k]
    }

    /// Whether the axis of `k` is moved by `j`: `j` belongs to an ancestor joint, or translates the free joint
    /// that `k` rotates.
    pub fn carries(&self, j: usize, k: usize) -> bool {
        let (a, b) = (self.link_of(j), self.link_of(k));
        if a == b {
            let first = self.topology.dofs[a].start;
            return self.links[a].joint.kind == JointKind::Free && j < first + 3 && k >= first + 3;
        }
        self.topology.support[b].binary_search(&j).is_ok()
    }

    /// Index of the link of a name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.links.iter().position(|l| l.name == name)
    }

    /// The configuration in which every joint's motion is the identity.
    pub fn neutral(&self) -> Configuration<T> {
        Configuration::new(self.links.iter().map(|l| l.joint.kind.neutral()).collect())
    }

    /// Mass properties of link `i`, to seed or to change them. Nothing is checked.
    pub fn inertia_mut(&mut self, i: usize) -> &mut LinkInertia<T> {
        &mut self.links[i].inertia
    }

    /// Placement of the joint of link `i`, to seed or to change it. Nothing is checked.
    pub fn placement_mut(&mut self, i: usize) -> &mut Pose<T> {
        &mut self.links[i].joint.placement
    }

    /// Offset of link `i` from its moved joint frame, to seed or to change it. Nothing is checked.
    pub fn offset_mut(&mut self, i: usize) -> &mut Pose<T> {
        &mut self.links[i].joint.offset
    }

    /// Closure `i`, to seed or to change its numbers. Nothing is checked.
    pub fn closure_mut(&mut self, i: usize) -> &mut LoopClosure<T> {
        &mut self.closures[i]
    }

    /// Armature of the joint of link `i`, to seed or to change it. Nothing is checked.
    pub fn armature_mut(&mut self, i: usize) -> &mut [T] {
        let dofs = self.links[i].joint.kind.dofs();
        &mut self.links[i].joint.armature[..dofs]
    }

    /// Laws of the joint of link `i`, to seed or to change them. Nothing is checked.
    pub fn laws_mut(&mut self, i: usize) -> &mut super::JointLaws<T> {
        &mut self.links[i].joint.laws
    }

    /// The same model in another scalar.
    pub fn map<U: Scalar>(&self, f: &impl Fn(T) -> U) -> ArticulatedModel<U> {
        let links = self.links.iter().map(|l| Link {
            name: l.name.clone(),
            parent: l.parent,
            joint: l.joint.map(f),
            inertia: LinkInertia {
                mass: f(l.inertia.mass),
                center: l.inertia.center.map(f),
                inertia: l.inertia.inertia.map(f),
            },
        });
        ArticulatedModel {
            links: links.collect(),
            closures: self.closures.iter().map(|c| c.map(f)).collect(),
            topology: self.topology.clone(),
        }
    }
}

impl ArticulatedModel {
    /// The same model as constants of another scalar.
    pub fn lift<T: Scalar>(&self) -> ArticulatedModel<T> {
        self.map(&T::from)
    }
}

/// Links that name their parents in any order, sorted so that parents come first, otherwise in the order given.
///
/// The `parent` index of each link is set; what it was is ignored.
///
/// # Errors
/// Where a name is given twice, a parent is unknown, or links form a cycle.
pub fn sort_by_parent(named: Vec<(Link, Option<String>)>) -> Result<Vec<Link>, ModelError> {
    for (i, (link, parent)) in named.iter().enumerate() {
        if named[..i].iter().any(|(l, _)| l.name == link.name) {
            return Err(ModelError::DuplicateName { what: "link", name: link.name.clone() });
        }
        if let Some(p) = parent
            && !named.iter().any(|(l, _)| l.name == *p)
        {
            return Err(ModelError::UnknownParent {
                link: link.name.clone(),
                parent: format!("'{p}'"),
            });
        }
    }
    let mut sorted: Vec<Link> = Vec::with_capacity(named.len());
    let mut waiting = named;
    while !waiting.is_empty() {
        let before = sorted.len();
        let mut later = Vec::new();
        for (mut link, parent) in waiting {
            let index = parent.as_ref().map(|p| sorted.iter().position(|l| l.name == *p));
            if index == Some(None) {
                later.push((link, parent));
                continue;
            }
            link.parent = index.flatten();
            sorted.push(link);
        }
        if sorted.len() == before {
            let names = later.iter().map(|(l, _)| l.name.clone()).collect();
            return Err(ModelError::Cycle { names });
        }
        waiting = later;
    }
    Ok(sorted)
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;
