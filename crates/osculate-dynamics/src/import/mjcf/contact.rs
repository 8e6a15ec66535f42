//! `contact`: `exclude` and `pair`.

use super::super::description::{ContactNumbers, ContactPair};
use super::super::error::{ImportError, Problem};
use super::super::fields::Fields;
use super::super::xml::Element;
use super::{Builder, Context, geom};

type Excluded = Vec<[Option<usize>; 2]>;

pub(super) fn read<'x>(
    context: &Context<'x, '_>,
    root: Element<'x>,
    out: &Builder<'x>,
) -> Result<(Excluded, Vec<ContactPair>), ImportError> {
    let (mut excluded, mut pairs) = (Vec::new(), Vec::new());
    for section in root.all("contact") {
        for e in section.all("exclude") {
            e.attribute("name");
            excluded.push([out.body(e, "body1")?, out.body(e, "body2")?]);
        }
        for e in section.children().filter(|e| e.tag() == "pair") {
            pairs.push(pair(context, e, out)?);
        }
    }
    Ok((excluded, pairs))
}

fn pair<'x>(
    context: &Context<'x, '_>,
    element: Element<'x>,
    out: &Builder<'x>,
) -> Result<ContactPair, ImportError> {
    let e = context.defaults.resolve(element, &["pair"], None)?;
    element.attribute("name");
    let name = |attribute: &str| {
        let name = element.needed_text(attribute)?;
        if out.geometries.contains_key(name) {
            return Ok(name.to_owned());
        }
        Err(element.error(Problem::Unknown { what: "geom", name: name.into() }))
    };
    let geometries = [name("geom1")?, name("geom2")?];
    // Two numbers of sliding, one of torsional and two of rolling friction; those of one direction count.
    let x = e.list("friction", (1, 5), "one to five finite numbers")?;
    let friction = x.map(|x| {
        let at = |i: usize, other| x.get(i).copied().unwrap_or(other);
        [at(0, 1.0), at(2, 0.005), at(3, 0.0001)]
    });
    let dimension = geom::dimension(&e)?;
    let contact = ContactNumbers { friction, dimension, ..ContactNumbers::default() };
    Ok(ContactPair { line: element.line(), geometries, contact })
}
