//! `actuator`: `motor`, `position`, `velocity`, and what of `general` is one of these.

use super::super::description::{Actuator, ActuatorKind};
use super::super::error::{ImportError, Problem};
use super::super::fields::Fields;
use super::super::notes::Outcome;
use super::super::xml::Element;
use super::defaults::Resolved;
use super::joint::bounds;
use super::{Builder, Context};

const TAGS: [&str; 4] = ["general", "motor", "position", "velocity"];
/// Numbers of one kind of actuator.
const OWN: [&str; 7] = ["kp", "kv", "gainprm", "biasprm", "gaintype", "biastype", "dyntype"];

pub(super) fn read<'x>(
    context: &Context<'x, '_>,
    root: Element<'x>,
    out: &mut Builder<'x>,
) -> Result<Vec<Actuator>, ImportError> {
    let mut actuators: Vec<Actuator> = Vec::new();
    for section in root.all("actuator") {
        for element in section.children().filter(|e| TAGS.contains(&e.tag())) {
            let Some(actuator) = one(context, element, out)? else { continue };
            let named = !actuator.name.is_empty();
            if let Some(first) = actuators.iter().find(|a| named && a.name == actuator.name) {
                let what = format!("actuator '{}'", actuator.name);
                return Err(element.error(Problem::Twice { what, first: first.line }));
            }
            actuators.push(actuator);
        }
    }
    Ok(actuators)
}

/// An actuator; none where it drives something else than a joint with one coordinate, which is noted.
fn one<'x>(
    context: &Context<'x, '_>,
    element: Element<'x>,
    out: &mut Builder<'x>,
) -> Result<Option<Actuator>, ImportError> {
    // What all kinds have may come from the defaults of any.
    let e = context.defaults.resolve(element, &TAGS, None)?;
    let own = context.defaults.resolve(element, &[element.tag()], None)?;
    OWN.iter().for_each(|name| {
        e.find(name);
    });
    let gear = e.list("gear", (1, 6), "one to six finite numbers")?.map_or(1.0, |g| g[0]);
    let control_range = bounds(context, &e, "ctrlrange", "ctrllimited")?;
    let force_range = bounds(context, &e, "forcerange", "forcelimited")?;
    let name = element.text("name").unwrap_or_default().to_owned();
    let mut ignored = |attribute: Option<&str>, reason: &str| {
        out.notes.push(element.note(attribute, Outcome::Ignored, reason.into()));
    };
    let joint = e.text("joint").or_else(|| e.text("jointinparent"));
    let Some(joint) = joint else {
        ignored(None, "only drives of joints are supported");
        return Ok(None);
    };
    let unknown = || element.error(Problem::Unknown { what: "joint", name: joint.into() });
    let link = out.joints.get(joint).ok_or_else(unknown)?.0;
    if !out.links[link].joint.kind.is_scalar() {
        ignored(None, "only hinges and slides have drives");
        return Ok(None);
    }
    let kind = match kind(&own)? {
        Ok(kind) => kind,
        Err(reason) => {
            ignored(None, reason);
            return Ok(None);
        }
    };
    if own.number("dampratio")?.is_some_and(|d| d.abs() > 0.0) {
        ignored(Some("dampratio"), "damping is given by kv");
    }
    let lopsided = |r: Option<[f64; 2]>| r.is_some_and(|[a, b]| (a + b).abs() > 1e-12 * b.abs());
    if lopsided(force_range) {
        ignored(Some("forcerange"), "the limit of a drive is the same on both sides");
    }
    match kind {
        ActuatorKind::Torque { .. } if lopsided(control_range) => {
            ignored(Some("ctrlrange"), "the limit of a drive is the same on both sides");
        }
        ActuatorKind::Position { .. } | ActuatorKind::Velocity { .. }
            if control_range.is_some() =>
        {
            ignored(Some("ctrlrange"), "the target of a drive is not limited");
        }
        _ => {}
    }
    let line = element.line();
    Ok(Some(Actuator { name, line, link, kind, gear, control_range, force_range }))
}

/// How the force follows from the signal, or why it does in no way that is supported.
fn kind(e: &Resolved<'_>) -> Result<Result<ActuatorKind, &'static str>, ImportError> {
    Ok(match e.element().tag() {
        "motor" => Ok(ActuatorKind::Torque { gain: 1.0 }),
        "position" => {
            let kp = e.not_negative("kp")?.unwrap_or(1.0);
            Ok(ActuatorKind::Position { kp, kv: e.not_negative("kv")?.unwrap_or(0.0) })
        }
        "velocity" => Ok(ActuatorKind::Velocity { kv: e.not_negative("kv")?.unwrap_or(1.0) }),
        _ => general(e)?,
    })
}

/// `general`: force `gain u + b₀ + b₁ q + b₂ q̇`.
fn general(e: &Resolved<'_>) -> Result<Result<ActuatorKind, &'static str>, ImportError> {
    let numbers =
        |name| Ok(e.list(name, (0, 10), "at most ten finite numbers")?.unwrap_or_default());
    let (gain, bias): (Vec<f64>, Vec<f64>) = (numbers("gainprm")?, numbers("biasprm")?);
    let at = |list: &[f64], i: usize| list.get(i).copied().unwrap_or(0.0);
    let gain = gain.first().copied().unwrap_or(1.0);
    if e.text("dyntype").unwrap_or("none") != "none" {
        return Ok(Err("drives with a state of their own are not supported"));
    }
    if e.text("gaintype").unwrap_or("fixed") != "fixed" {
        return Ok(Err("only a fixed gain is supported"));
    }
    let same = |x: f64, y: f64| (x - y).abs() <= 1e-12 * x.abs().max(y.abs());
    let [b0, b1, b2] = match e.text("biastype").unwrap_or("none") {
        "none" => [0.0; 3],
        "affine" => [0, 1, 2].map(|i| at(&bias, i)),
        _ => return Ok(Err("only an affine bias is supported")),
    };
    let none = |x: f64| x.abs() <= 0.0;
    if none(b0) && none(b1) && none(b2) {
        Ok(Ok(ActuatorKind::Torque { gain }))
    } else if none(b0) && same(gain, -b1) && gain > 0.0 && b2 <= 0.0 {
        Ok(Ok(ActuatorKind::Position { kp: gain, kv: -b2 }))
    } else if none(b0) && none(b1) && same(gain, -b2) && gain > 0.0 {
        Ok(Ok(ActuatorKind::Velocity { kv: gain }))
    } else {
        Ok(Err("gain and bias are neither those of a torque, nor of a position or velocity servo"))
    }
}
