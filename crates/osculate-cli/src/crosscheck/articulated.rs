//! Family f7: articulated bodies.

use super::case::{BodyCase, Case, ContactCase, Meshes, Properties, Shape, read};
use super::compare::{self, Worst};
use super::convert::{self, Prepared};
use super::report::{CaseReport, Verdict};
use super::{PROPERTIES_TOLERANCE, unconverged_note};
use crate::CliError;
use osculate_dynamics::file::{
    ActorPose, FrictionTable, JointTable, JointWord, LimitTable, SceneFile,
};
use serde::Deserialize;
use std::path::Path;

/// What `worst` is.
pub(super) const MEASURE: &str = "pose deviation (m, rad)";
/// Largest deviation of a link's pose (m, rad).
pub(super) const TOLERANCE: f64 = 1e-7;

/// What is recorded.
#[derive(Debug, Deserialize)]
struct Record {
    case: Whole,
    info: Vec<Properties>,
    states: Vec<State>,
}

#[derive(Debug, Deserialize)]
struct Whole {
    #[serde(flatten)]
    case: Case,
    #[serde(flatten)]
    tree: TreeCase,
}

/// The links of a case, in the order of their coordinates.
#[derive(Clone, Debug, Deserialize)]
struct TreeCase {
    links: Vec<LinkCase>,
    #[serde(default)]
    rigid: Vec<BodyCase>,
    #[serde(default)]
    q: Vec<f64>,
    #[serde(default)]
    qdot: Vec<f64>,
}

#[derive(Clone, Debug, Deserialize)]
struct LinkCase {
    /// Index of the parent, −1 for the world.
    parent: i64,
    offset: [f64; 3],
    shape: Shape,
    mass: f64,
    #[serde(default)]
    contact: ContactCase,
    joint: JointCase,
}

#[derive(Clone, Debug, Deserialize)]
struct JointCase {
    #[serde(rename = "type")]
    kind: String,
    axis: Option<[f64; 3]>,
    pos: [f64; 3],
    quat: Option<[f64; 4]>,
    inertia: Option<f64>,
    friction: Option<FrictionCase>,
    limits: Option<[f64; 2]>,
    limit_stiffness: Option<f64>,
    limit_damping: Option<f64>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct FrictionCase {
    #[serde(default)]
    viscous: f64,
    #[serde(default)]
    coulomb: f64,
    falloff_vel: Option<f64>,
    #[serde(default)]
    stiction_extra: f64,
    stribeck_vel: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct State {
    step: usize,
    qdot: Vec<f64>,
    link_pos: Vec<[f64; 3]>,
    link_quat: Vec<[f64; 4]>,
}

fn name(link: usize) -> String {
    format!("link{link}")
}

impl LinkCase {
    fn body(&self, link: usize) -> BodyCase {
        BodyCase {
            name: name(link),
            shape: self.shape.clone(),
            collider: "auto".into(),
            fixed: false,
            contact: self.contact,
            mass: Some(self.mass),
            density: None,
            element: None,
            pos: [0.0; 3],
            quat: [0.0, 0.0, 0.0, 1.0],
            v: None,
            w: None,
        }
    }

    fn joint(&self, link: usize) -> Result<JointTable, CliError> {
        let kind = match self.joint.kind.as_str() {
            "free" => JointWord::Free,
            "spherical" => JointWord::Spherical,
            "revolute" => JointWord::Revolute,
            "prismatic" => JointWord::Prismatic,
            "fixed" => JointWord::Fixed,
            found => {
                let allowed = "free, spherical, revolute, prismatic, fixed";
                return Err(CliError::Value { field: "joint.type", found: found.into(), allowed });
            }
        };
        let default = FrictionTable::default();
        let friction = self.joint.friction.map_or(default, |f| FrictionTable {
            viscous: f.viscous,
            coulomb: f.coulomb,
            stiction: f.stiction_extra,
            stribeck_speed: f.stribeck_vel.unwrap_or(default.stribeck_speed),
            falloff_speed: f.falloff_vel.unwrap_or(default.falloff_speed),
        });
        let limits = self.joint.limits.map(|[lower, upper]| LimitTable {
            lower: Some(lower),
            upper: Some(upper),
            stiffness: self.joint.limit_stiffness.unwrap_or(100.0),
            damping: self.joint.limit_damping.unwrap_or(0.0),
        });
        let placed = |position, q: Option<[f64; 4]>| ActorPose {
            position,
            quaternion: q.map(|[x, y, z, w]| [w, x, y, z]),
            rotation_vector: None,
        };
        Ok(JointTable {
            child: name(link),
            parent: usize::try_from(self.parent).ok().map(name),
            kind,
            axis: self.joint.axis,
            placement: placed(self.joint.pos, self.joint.quat),
            offset: placed(self.offset, None),
            armature: self.joint.inertia.unwrap_or(0.0),
            friction,
            limits,
            drive: None,
            q: None,
            qdot: None,
        })
    }
}

fn dofs(kind: JointWord) -> usize {
    match kind {
        JointWord::Free => 6,
        JointWord::Spherical => 3,
        JointWord::Revolute | JointWord::Prismatic => 1,
        JointWord::Fixed => 0,
    }
}

impl TreeCase {
    fn joints(&self) -> Result<Vec<JointTable>, CliError> {
        let mut at = 0;
        let mut joints = Vec::with_capacity(self.links.len());
        for (i, link) in self.links.iter().enumerate() {
            let mut joint = link.joint(i)?;
            let own = at..at + dofs(joint.kind);
            at = own.end;
            joint.q = self.q.get(own.clone()).map(<[f64]>::to_vec);
            joint.qdot = self.qdot.get(own).map(<[f64]>::to_vec);
            joints.push(joint);
        }
        Ok(joints)
    }

    /// Ordered pairs that may touch: links against bodies at rest, and against links that are not their neighbours.
    fn pairs(&self) -> Vec<[String; 2]> {
        let mut pairs = Vec::new();
        let parent = |i: usize| usize::try_from(self.links[i].parent).ok();
        for i in 0..self.links.len() {
            let ground = self.rigid.iter().filter(|b| b.collider != "none");
            pairs.extend(ground.map(|b| [name(i), b.name.clone()]));
            let others = (0..self.links.len()).filter(|&j| j != i);
            let others = others.filter(|&j| parent(i) != Some(j) && parent(j) != Some(i));
            pairs.extend(others.map(|j| [name(i), name(j)]));
        }
        pairs
    }
}

/// Converts a case of this family.
fn scene(whole: &Whole, meshes: &Meshes) -> Result<SceneFile, CliError> {
    let Whole { case, tree } = whole;
    let links = tree.links.iter().enumerate().map(|(i, link)| link.body(i));
    let bodies: Vec<BodyCase> = links.chain(tree.rigid.iter().cloned()).collect();
    let actors = bodies.iter().map(|body| convert::plain_actor(body, meshes));
    Ok(SceneFile {
        gravity: case.gravity,
        only: Some(tree.pairs()),
        solver: convert::solver(case)?,
        actors: actors.collect::<Result<_, _>>()?,
        joints: tree.joints()?,
        ..SceneFile::default()
    })
}

/// The scene of a case file.
pub(super) fn load_scene(path: &Path, meshes: &Meshes) -> Result<SceneFile, CliError> {
    scene(&read::<Record>(path)?.case, meshes)
}

pub(super) fn check(path: &Path, meshes: &Meshes) -> Result<CaseReport, CliError> {
    let record: Record = read(path)?;
    let prepared = Prepared::new(&scene(&record.case, meshes)?)?;
    let trajectory = prepared.simulator.run(&prepared.parameters)?;
    let (mut pose, mut velocity) = (Worst::default(), Worst::default());
    for s in &record.states {
        let ours = trajectory.path.state(s.step);
        for (link, (position, quaternion)) in s.link_pos.iter().zip(&s.link_quat).enumerate() {
            let motion = ours[link].kinematics(&prepared.parameters.bodies[link].center);
            let at = |what: &str| format!("{what} of {} after step {}", name(link), s.step);
            pose.see(compare::distance(&motion.position, position), || at("position"));
            let turned = compare::angle(&motion.rotation, &compare::rotation(quaternion));
            pose.see(turned, || at("rotation"));
        }
        if let Some(joints) = trajectory.path.joints(s.step) {
            for (k, (a, b)) in joints.rates.iter().zip(&s.qdot).enumerate() {
                let at = || format!("velocity {k} after step {}", s.step);
                velocity.see((a - b).abs() / b.abs().max(1.0), at);
            }
        }
    }
    let mut properties = Worst::default();
    for (link, info) in record.info.iter().enumerate() {
        properties.see(compare::properties(&prepared, link, info), || name(link));
    }
    let verdict = if properties.exceeds(PROPERTIES_TOLERANCE) {
        let Worst { value, place } = &properties;
        Verdict::Disagrees(format!("mass properties of {place} differ by {value:.1e} relative"))
    } else if pose.exceeds(TOLERANCE) {
        Verdict::Disagrees(format!("{} differs by {:.1e}", pose.place, pose.value))
    } else {
        Verdict::Passed
    };
    Ok(CaseReport {
        name: record.case.case.name.clone(),
        verdict,
        worst: Some(pose.value),
        place: pose.place,
        details: serde_json::json!({
            "velocity": velocity.value,
            "velocity_place": velocity.place,
            "properties": properties.value,
            "unconverged_stages": trajectory.unconverged(),
        }),
        notes: unconverged_note(&trajectory),
    })
}
