//! `inertial`.

use super::super::error::{ImportError, Problem};
use super::super::fields::Fields;
use super::super::notes::{Note, Outcome};
use super::super::solid::{Moments, moments, placed};
use super::super::xml::Element;
use super::Context;
use super::orientation::pose;
use crate::articulated::LinkInertia;
use nalgebra::{Matrix3, Vector3};
use osculate_geometry::mass::MassProperties;

/// Mass, centre and inertia: `diaginertia` along the axes of the frame, or `fullinertia` xx, yy, zz, xy, xz, yz.
pub(super) fn read<'x>(
    context: &Context<'x, '_>,
    element: Element<'x>,
    notes: &mut Vec<Note>,
) -> Result<LinkInertia, ImportError> {
    let e = context.defaults.resolve(element, &[], None)?;
    let place = pose(&e, &context.compiler)?;
    if element.attribute("pos").is_none() {
        return Err(e.missing("pos"));
    }
    let mass = e.needed_number("mass")?;
    if mass < 0.0 {
        return Err(e.refused("mass", "≥ 0"));
    }
    let full = e.list("fullinertia", (6, 6), "six finite numbers")?;
    let mut inertia = match (e.vector("diaginertia")?, full) {
        (Some(_), Some(_)) => {
            let what = "the inertia (diaginertia and fullinertia)".into();
            return Err(element.error(Problem::Twice { what, first: element.line() }));
        }
        (Some(diagonal), None) => Matrix3::from_diagonal(&diagonal),
        (None, Some(x)) => Matrix3::new(x[0], x[3], x[4], x[3], x[1], x[5], x[4], x[5], x[2]),
        (None, None) => return Err(e.missing("diaginertia (or fullinertia)")),
    };
    if mass <= 0.0 {
        return Ok(LinkInertia::massless());
    }
    match moments(&inertia) {
        Moments::Fine => {}
        Moments::Impossible if context.compiler.balance => {
            let reason = "balanceinertia: every principal moment is their mean".into();
            notes.push(element.note(None, Outcome::Changed, reason));
            inertia = Matrix3::from_diagonal_element(inertia.trace() / 3.0);
        }
        Moments::Impossible => {}
        Moments::Lowered(lowered, by) => {
            let percent = by * 100.0;
            let reason = format!(
                "the largest principal moment exceeded the sum of the others by {percent:.2e} % of it, and is lowered to it"
            );
            notes.push(element.note(None, Outcome::Changed, reason));
            inertia = lowered;
        }
    }
    let body = placed(&LinkInertia { mass, center: Vector3::zeros(), inertia }, &place);
    MassProperties::new(body.mass, body.center, body.inertia)
        .map(Into::into)
        .map_err(|source| element.error(Problem::Mass { source }))
}
