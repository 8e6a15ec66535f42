//! Which bodies of a scene are links, and how they are joined.

use super::JointState;
use crate::Body;
use crate::articulated::{
    ArticulatedModel, Attachment, Configuration, Joint, JointPosition, Link, LinkInertia,
    LoopClosure, ModelError, sort_by_parent,
};
use osculate_geometry::filter::{ContactFilter, Direction, FilterError, Nested};

/// A joint between a body and its parent.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkJoint {
    /// Index of the body that becomes a link.
    pub body: usize,
    /// Index of the parent, a link too; `None` for the world.
    pub parent: Option<usize>,
    /// The joint.
    pub joint: Joint,
    /// Initial position; `None` for that at which the joint's motion is the identity.
    pub position: Option<JointPosition>,
    /// Initial velocity of each degree of freedom \[rad/s or m/s\]; empty for rest.
    pub rates: Vec<f64>,
}

/// The joints of a scene: a forest of links, which are dynamic bodies, with compliant loop closures.
///
/// Poses and velocities of the links' bodies follow from the joints; those of [`Body`] are not used.
#[derive(Clone, Debug, PartialEq)]
pub struct Articulation {
    model: ArticulatedModel,
    bodies: Vec<usize>,
    /// Positions and velocities at the start.
    pub initial: JointState,
}

/// Why bodies cannot be joined like this.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ArticulationError {
    /// The model is refused.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The filter is refused.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// A body that does not exist.
    #[error("joint of body {index}: there are {bodies} bodies")]
    UnknownBody {
        /// The index found.
        index: usize,
        /// How many there are.
        bodies: usize,
    },
    /// A link that no force moves.
    #[error(
        "body '{body}' is static and cannot be a link; let its child have the world as its parent"
    )]
    Static {
        /// The body.
        body: String,
    },
    /// A velocity of another length.
    #[error("joint of '{body}': {found} velocities given, {expected} needed")]
    Rates {
        /// The link.
        body: String,
        /// How many were found.
        found: usize,
        /// How many are needed.
        expected: usize,
    },
    /// A velocity that is not finite.
    #[error("joint of '{body}': the initial velocity is {found}, allowed: finite")]
    NotFinite {
        /// The link.
        body: String,
        /// The value found.
        found: f64,
    },
}

impl Articulation {
    /// Joins bodies. Joints may stand in any order.
    ///
    /// * `closures`: their links are indices of *bodies*.
    ///
    /// # Errors
    /// Where a body does not exist, is static or has two joints, a parent is no link, joints form a cycle, or a number of a
    /// joint is outside its range.
    pub fn new(
        bodies: &[Body],
        joints: Vec<LinkJoint>,
        closures: Vec<LoopClosure>,
    ) -> Result<Self, ArticulationError> {
        let name = |i: usize| {
            let unknown = ArticulationError::UnknownBody { index: i, bodies: bodies.len() };
            bodies.get(i).map(|b| b.name.clone()).ok_or(unknown)
        };
        let mut named = Vec::with_capacity(joints.len());
        for j in &joints {
            let link = Link {
                name: name(j.body)?,
                parent: None,
                joint: j.joint.clone(),
                inertia: inertia(&bodies[j.body])?,
            };
            named.push((link, j.parent.map(name).transpose()?));
        }
        let links = sort_by_parent(named)?;
        let index = |of: &str| bodies.iter().position(|b| b.name == of).unwrap_or(0);
        let order: Vec<usize> = links.iter().map(|l| index(&l.name)).collect();
        let attached = |closure: &str, a: Attachment| -> Result<Attachment, ArticulationError> {
            let Some(index) = a.link else { return Ok(a) };
            let link = order.iter().position(|&b| b == index);
            let (closure, links) = (closure.to_owned(), order.len());
            let link = link.ok_or(ModelError::UnknownLink { closure, index, links })?;
            Ok(Attachment { link: Some(link), ..a })
        };
        let closures = closures.into_iter().map(|c| {
            let (first, second) = (attached(&c.name, c.first)?, attached(&c.name, c.second)?);
            Ok(LoopClosure { first, second, ..c })
        });
        let closures = closures.collect::<Result<_, ArticulationError>>()?;
        let model = ArticulatedModel::new(links, closures)?;
        let initial = initial(&model, &order, &joints)?;
        Ok(Self { model, bodies: order, initial })
    }

    /// Joints and closures; mass properties are copies of the bodies'.
    pub fn model(&self) -> &ArticulatedModel {
        &self.model
    }

    /// Body of each link, in the order of the model.
    pub fn bodies(&self) -> &[usize] {
        &self.bodies
    }

    /// The link that a body is.
    pub fn link_of_body(&self, body: usize) -> Option<usize> {
        self.bodies.iter().position(|&b| b == body)
    }

    /// Checks that the links are dynamic bodies of these, by name.
    pub(crate) fn check(&self, bodies: &[Body]) -> Result<(), ArticulationError> {
        for (link, &index) in self.model.links().iter().zip(&self.bodies) {
            let found = bodies.get(index).filter(|b| b.name == link.name);
            let missing = ArticulationError::UnknownBody { index, bodies: bodies.len() };
            inertia(found.ok_or(missing)?)?;
        }
        Ok(())
    }

    /// Disables contact between each link and its parent, both ways. A later setting of the filter may enable it again.
    ///
    /// # Errors
    /// Where the filter is of another scene.
    pub fn separate_adjacent(&self, filter: &mut ContactFilter) -> Result<(), ArticulationError> {
        for (link, &body) in self.model.links().iter().zip(&self.bodies) {
            if let Some(parent) = link.parent {
                let pair = (self.bodies[parent], body);
                filter.enable_actors(pair, false, Direction::Both, Nested::No)?;
            }
        }
        Ok(())
    }
}

fn inertia(body: &Body) -> Result<LinkInertia, ArticulationError> {
    let mass = body.mass().ok_or_else(|| ArticulationError::Static { body: body.name.clone() })?;
    Ok(LinkInertia::from(*mass))
}

fn initial(
    model: &ArticulatedModel,
    order: &[usize],
    joints: &[LinkJoint],
) -> Result<JointState, ArticulationError> {
    let (mut positions, mut rates) = (Vec::new(), Vec::new());
    for (link, &body) in model.links().iter().zip(order) {
        let Some(j) = joints.iter().find(|j| j.body == body) else { continue };
        let (kind, dofs) = (&link.joint.kind, link.joint.kind.dofs());
        positions.push(j.position.unwrap_or_else(|| kind.neutral()));
        let body = || link.name.clone();
        if !(j.rates.is_empty() || j.rates.len() == dofs) {
            let found = j.rates.len();
            return Err(ArticulationError::Rates { body: body(), found, expected: dofs });
        }
        if let Some(&found) = j.rates.iter().find(|x| !x.is_finite()) {
            return Err(ArticulationError::NotFinite { body: body(), found });
        }
        rates.extend((0..dofs).map(|k| j.rates.get(k).copied().unwrap_or(0.0)));
    }
    Ok(JointState { configuration: Configuration::of(model, positions)?, rates })
}
