//! `[[channel]]`: from the tables of an experiment to what is compared. Documented in `docs/experiment.md`.

use super::check::Check;
use super::{ExperimentError, ExperimentFile, Loss, Refuse};
use crate::problem::{Channel, Quantity};
use osculate_dynamics::Scene;
use serde::{Deserialize, Serialize};

/// A table `[[channel]]`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ChannelFile {
    /// What is measured.
    pub kind: ChannelKind,
    /// Actor, or joint by the name of the actor that it moves.
    pub target: String,
    /// Name; kind and target where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Columns of the recordings; those of the pose and its velocities where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<Vec<String>>,
    /// Components that are compared; all where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axes: Option<Vec<Axis>>,
    /// Standard deviation of a component, in the unit of the quantity; of a pose that of the position (m).
    pub sigma: Sigma,
    /// Of a pose: standard deviation of a coordinate of the rotation (rad).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation_sigma: Option<Sigma>,
    /// Column of ones where the record counts and zeros where it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask: Option<String>,
    /// Name of the clock; the channel's where absent. Channels of one clock have one offset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<String>,
    /// A record stamped t was taken at t + this (s).
    #[serde(default)]
    pub clock_offset: f64,
}

/// What a table measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "those of Quantity; a pose is a position and a rotation")]
pub enum ChannelKind {
    Pose,
    Position,
    Rotation,
    Velocity,
    AngularVelocity,
    JointPosition,
    JointRate,
    ContactForce,
    ContactTorque,
    Impulse,
}

/// An axis of the world, of an angular velocity of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the three axes")]
pub enum Axis {
    X,
    Y,
    Z,
}

/// A standard deviation.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(untagged)]
pub enum Sigma {
    /// Given.
    Given(f64),
    /// `"estimated"`.
    Word(String),
}

/// Standard deviation that an estimated one starts from where there are no records yet to take it from.
const UNKNOWN: f64 = 1.0;

/// The channels of a file.
pub(super) fn channels(
    file: &ExperimentFile,
    check: &Check<'_>,
    scene: &Scene,
) -> Result<Vec<Channel>, ExperimentError> {
    let told = matches!(file.loss, Loss::Channels { .. });
    if told == file.channels.is_empty() {
        let (found, allowed) = match told {
            true => ("channels, without [[channel]]", "at least one [[channel]], or another kind"),
            false => ("[[channel]] beside another kind", "kind = \"channels\" beside [[channel]]"),
        };
        return check.refuse("loss.kind", found, allowed);
    }
    let mut all: Vec<Channel> = Vec::new();
    for (i, table) in file.channels.iter().enumerate() {
        let reader =
            Reader { check, at: format!("channel[{i}]"), table, scene, tracked: &file.body };
        for made in reader.read()? {
            if all.iter().any(|c| c.name == made.name) {
                return reader.refuse(
                    "name",
                    format!("'{}' twice", made.name),
                    "a name of its own",
                );
            }
            let same = all.iter().find(|c| c.clock == made.clock);
            if same.is_some_and(|c| (c.clock_offset - made.clock_offset).abs() > 0.0) {
                let found = format!("another offset of clock '{}'", made.clock);
                return reader.refuse(
                    "clock_offset",
                    found,
                    "one offset for all channels of a clock",
                );
            }
            all.push(made);
        }
    }
    Ok(all)
}

struct Reader<'a> {
    check: &'a Check<'a>,
    at: String,
    table: &'a ChannelFile,
    scene: &'a Scene,
    tracked: &'a str,
}

impl Reader<'_> {
    fn refuse<T>(
        &self,
        field: &str,
        found: impl ToString,
        allowed: impl Into<String>,
    ) -> Result<T, ExperimentError> {
        self.check.refuse(&format!("{}.{field}", self.at), found, allowed)
    }

    fn read(&self) -> Result<Vec<Channel>, ExperimentError> {
        let t = self.table;
        if !t.clock_offset.is_finite() {
            return self.refuse("clock_offset", t.clock_offset, "finite");
        }
        use ChannelKind as K;
        let quantity = match t.kind {
            K::Pose => return self.pose(),
            K::Position => Quantity::Position,
            K::Rotation => Quantity::Rotation,
            K::Velocity => Quantity::Velocity,
            K::AngularVelocity => Quantity::AngularVelocity,
            K::JointPosition => Quantity::JointPosition,
            K::JointRate => Quantity::JointRate,
            K::ContactForce => Quantity::ContactForce,
            K::ContactTorque => Quantity::ContactTorque,
            K::Impulse => Quantity::Impulse,
        };
        if t.rotation_sigma.is_some() {
            return self.refuse("rotation_sigma", "given", "only beside kind = \"pose\"");
        }
        let name = t.name.clone().unwrap_or_else(|| format!("{} {}", quantity.name(), t.target));
        let sigma = self.sigma("sigma", &t.sigma)?;
        Ok(vec![self.channel(quantity, name, t.columns.clone(), sigma)?])
    }

    /// A position and a rotation on one clock.
    fn pose(&self) -> Result<Vec<Channel>, ExperimentError> {
        let t = self.table;
        if t.axes.is_some() {
            return self.refuse("axes", "given", "absent beside kind = \"pose\"");
        }
        let (first, rest) = match &t.columns {
            Some(c) if c.len() != 7 => {
                return self.refuse(
                    "columns",
                    format!("{} columns", c.len()),
                    "7: p, then q scalar first",
                );
            }
            Some(c) => (Some(c[..3].to_vec()), Some(c[3..].to_vec())),
            None => (None, None),
        };
        let Some(rotation) = &t.rotation_sigma else {
            return self.refuse("rotation_sigma", "absent", "a number > 0 (rad) or \"estimated\"");
        };
        let name = t.name.clone().unwrap_or_else(|| format!("pose {}", t.target));
        let sigmas = [self.sigma("sigma", &t.sigma)?, self.sigma("rotation_sigma", rotation)?];
        let clock = t.clock.clone().unwrap_or_else(|| name.clone());
        let made = [
            self.channel(Quantity::Position, format!("{name} position"), first, sigmas[0])?,
            self.channel(Quantity::Rotation, format!("{name} rotation"), rest, sigmas[1])?,
        ];
        Ok(made.map(|c| Channel { clock: clock.clone(), ..c }).to_vec())
    }

    fn sigma(&self, field: &str, sigma: &Sigma) -> Result<(f64, bool), ExperimentError> {
        match sigma {
            Sigma::Given(x) if x.is_finite() && *x > 0.0 => Ok((*x, false)),
            Sigma::Given(x) => self.refuse(field, x, "> 0, or \"estimated\""),
            Sigma::Word(w) if w == "estimated" => Ok((UNKNOWN, true)),
            Sigma::Word(w) => {
                self.refuse(field, format!("'{w}'"), "a number > 0, or \"estimated\"")
            }
        }
    }

    fn channel(
        &self,
        quantity: Quantity,
        name: String,
        columns: Option<Vec<String>>,
        (sigma, estimated): (f64, bool),
    ) -> Result<Channel, ExperimentError> {
        let t = self.table;
        let body = self.body(quantity)?;
        let axes = self.axes(quantity)?;
        let columns = match columns.or_else(|| self.usual(quantity, &axes)) {
            Some(columns) => columns,
            None => return self.refuse("columns", "absent", "names of columns of the recordings"),
        };
        let needed = if quantity == Quantity::Rotation { 4 } else { axes.len() };
        if columns.len() != needed {
            let found = format!("{} columns", columns.len());
            return self.refuse("columns", found, format!("{needed} of them"));
        }
        let clock = t.clock.clone().unwrap_or_else(|| name.clone());
        let (clock_offset, mask) = (t.clock_offset, t.mask.clone());
        Ok(Channel {
            name,
            quantity,
            body,
            axes,
            columns,
            mask,
            sigma,
            estimated,
            clock,
            clock_offset,
        })
    }

    /// Columns of the pose and velocities of the tracked body.
    fn usual(&self, quantity: Quantity, axes: &[usize]) -> Option<Vec<String>> {
        let all: &[&str] = match quantity {
            _ if self.table.target != self.tracked => return None,
            Quantity::Position => &["px", "py", "pz"],
            Quantity::Rotation => return Some(["qw", "qx", "qy", "qz"].map(String::from).to_vec()),
            Quantity::Velocity => &["vx", "vy", "vz"],
            Quantity::AngularVelocity => &["wx", "wy", "wz"],
            _ => return None,
        };
        Some(axes.iter().map(|&k| all[k].to_owned()).collect())
    }

    fn axes(&self, quantity: Quantity) -> Result<Vec<usize>, ExperimentError> {
        let given = self.table.axes.as_deref();
        if quantity.of_joint() {
            return match given {
                Some(_) => self.refuse("axes", "given", "absent: a joint has one coordinate"),
                None => Ok(vec![0]),
            };
        }
        let Some(given) = given else { return Ok(vec![0, 1, 2]) };
        let axes: Vec<usize> = given.iter().map(|a| *a as usize).collect();
        if axes.is_empty() || (1..axes.len()).any(|i| axes[i] <= axes[i - 1]) {
            let found = format!("{} axes", axes.len());
            return self.refuse("axes", found, "1 to 3 of x, y, z, each once, in this order");
        }
        Ok(axes)
    }

    fn body(&self, quantity: Quantity) -> Result<usize, ExperimentError> {
        let bodies = &self.scene.bodies;
        let scalar = |i: usize| {
            let articulation = self.scene.articulation.as_ref();
            articulation.is_some_and(|a| {
                a.link_of_body(i).is_some_and(|l| a.model().links()[l].joint.kind.is_scalar())
            })
        };
        let link = |i: usize| {
            self.scene.articulation.as_ref().is_some_and(|a| a.link_of_body(i).is_some())
        };
        let fits = |i: usize| match quantity {
            _ if quantity.of_joint() => scalar(i),
            _ if quantity.over_a_frame() => bodies[i].is_dynamic() && !link(i),
            _ => bodies[i].is_dynamic(),
        };
        let what = match quantity {
            _ if quantity.of_joint() => "a revolute or prismatic joint, by the actor it moves",
            _ if quantity.over_a_frame() => {
                "a dynamic actor without joint (what joints do to a link would count as contact)"
            }
            _ => "a dynamic actor",
        };
        let name = &self.table.target;
        match bodies.iter().position(|b| b.name == *name) {
            Some(i) if fits(i) => Ok(i),
            _ => {
                let known: Vec<&str> = (0..bodies.len())
                    .filter(|&i| fits(i))
                    .map(|i| bodies[i].name.as_str())
                    .collect();
                let known =
                    if known.is_empty() { "there is none".into() } else { known.join(", ") };
                self.refuse("target", format!("'{name}'"), format!("{what}: {known}"))
            }
        }
    }
}
