//! Mass properties of an actor.

use super::build::Context;
use super::error::FileError;
use super::schema::{Actor, Shape};
use super::shape::Resolved;
use nalgebra::{Matrix3, Vector3};
use osculate_geometry::GeometryError;
use osculate_geometry::mass::MassProperties;

const WAYS: &str = "density, mass, or mass with center and inertia";

/// Of a homogeneous body of the shape, or as given.
pub(super) fn properties(
    context: &Context<'_>,
    actor: &Actor,
    shape: &Resolved,
    at: &str,
) -> Result<MassProperties, FileError> {
    let field = |name: &str| format!("{at}.{name}");
    let mass = actor.mass.map(|x| context.positive(&field("mass"), x, "kg")).transpose()?;
    let density =
        actor.density.map(|x| context.positive(&field("density"), x, "kg/m³")).transpose()?;
    if actor.center.is_some() && actor.inertia.is_none() {
        return Err(context.value(&field("center"), "center without inertia", WAYS));
    }
    match (mass, density, &actor.inertia) {
        (Some(mass), None, Some(inertia)) => {
            context.numbers(&field("inertia"), inertia)?;
            let center = actor.center.unwrap_or_default();
            let center = context.vector(&field("center"), &center)?;
            let [xx, yy, zz, xy, xz, yz] = *inertia;
            let tensor = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
            let made = MassProperties::new(mass, center, tensor).map_err(|source| {
                context.geometry(&field("inertia"), format!("{inertia:?}"), source)
            })?;
            turnable(context, &field("inertia"), &made)
        }
        (Some(mass), None, None) => {
            homogeneous(context, &field("mass"), actor, shape, Amount::Mass(mass))
        }
        (None, Some(density), None) => {
            homogeneous(context, &field("density"), actor, shape, Amount::Density(density))
        }
        (None, None, None) => Err(context.value(at, "a dynamic actor without mass", WAYS)),
        (Some(_), Some(_), _) => Err(context.value(&field("density"), "mass and density", WAYS)),
        (None, _, Some(_)) => Err(context.value(&field("inertia"), "inertia without mass", WAYS)),
    }
}

/// A rod or a point has an axis about which nothing resists: its rotation has no equation of motion.
fn turnable(
    context: &Context<'_>,
    field: &str,
    made: &MassProperties,
) -> Result<MassProperties, FileError> {
    let moments = made.inertia().symmetric_eigenvalues();
    if moments.min() > 1e-12 * moments.max() {
        return Ok(*made);
    }
    let found = format!("principal moments {:?} kg m²", moments.as_slice());
    Err(context.value(field, found, "three positive principal moments"))
}

/// How much of a body there is.
#[derive(Clone, Copy)]
enum Amount {
    /// \[kg\]
    Mass(f64),
    /// \[kg/m³\]
    Density(f64),
}

impl Amount {
    fn mass(self, volume: f64) -> f64 {
        match self {
            Self::Mass(mass) => mass,
            Self::Density(density) => density * volume,
        }
    }

    fn number(self) -> f64 {
        match self {
            Self::Mass(x) | Self::Density(x) => x,
        }
    }
}

fn homogeneous(
    context: &Context<'_>,
    field: &str,
    actor: &Actor,
    shape: &Resolved,
    amount: Amount,
) -> Result<MassProperties, FileError> {
    let found = match (&actor.shape, &shape.mesh) {
        (Some(Shape::Box(b)), _) if b.edge_radius.is_none() => {
            let h = Vector3::from(b.half_extents);
            MassProperties::cuboid(amount.mass(8.0 * h.product()), &h)
        }
        (Some(Shape::Cylinder(c)), _) => {
            let volume = 2.0 * std::f64::consts::PI * c.radius * c.radius * c.half_height;
            MassProperties::cylinder(amount.mass(volume), c.radius, c.half_height)
        }
        (Some(Shape::Sphere(ball)), _) => ball_about(
            Vector3::from(ball.center),
            ball.radius,
            amount.mass(4.0 / 3.0 * std::f64::consts::PI * ball.radius.powi(3)),
        ),
        (_, Some(mesh)) => match amount {
            Amount::Mass(mass) => MassProperties::of_mesh_with_mass(mesh, mass),
            Amount::Density(density) => MassProperties::of_mesh(mesh, density),
        },
        (_, None) => {
            let found = format!("{} of a shape without volume", amount.number());
            let allowed = "a closed shape, or mass with center and inertia";
            return Err(context.value(field, found, allowed));
        }
    };
    found.map_err(|source| context.geometry(field, amount.number(), source))
}

/// Homogeneous ball about a local centre: `I = ⅖ m r²`.
fn ball_about(
    center: Vector3<f64>,
    radius: f64,
    mass: f64,
) -> Result<MassProperties, GeometryError> {
    let moments = MassProperties::sphere(mass, radius)?.inertia();
    MassProperties::new(mass, center, moments)
}
