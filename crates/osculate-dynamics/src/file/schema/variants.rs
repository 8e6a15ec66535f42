//! Values that are a word or a table.

use super::{
    BoxField, CylinderField, ExplicitSamples, MeshField, PlaneField, SdfField, SphereField,
};
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// `collider`: a word or a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Collider {
    /// By kind: dimensions come from the shape.
    Named(ColliderKind),
    /// With its own dimensions.
    Field(ColliderField),
}

impl Default for Collider {
    fn default() -> Self {
        Self::Named(ColliderKind::Auto)
    }
}

/// The kinds of colliders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColliderKind {
    /// The exact field of a plane, sphere or box; a grid for a mesh; none without a shape.
    #[default]
    Auto,
    /// It collides with nothing; it may still have samples.
    None,
    /// The half-space of a plane.
    Plane,
    /// A ball: of a mesh, about the centre of its local bounding box, with the smallest half extent as radius.
    Sphere,
    /// A box: of a mesh, its local bounding box.
    Box,
    /// Distances to the triangles.
    Mesh,
    /// Distances on a grid.
    Sdf,
    /// A cloud of points.
    PointCloud,
}

/// A distance field with its own dimensions, local.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ColliderField {
    /// A half-space.
    Plane(PlaneField),
    /// A ball.
    Sphere(SphereField),
    /// A box along the local axes.
    Box(BoxField),
    /// A cylinder about an axis along local z.
    Cylinder(CylinderField),
    /// Distances on a grid.
    Sdf(SdfField),
    /// Distances to the triangles of the shape.
    Mesh(MeshField),
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum FieldKey {
    Plane,
    Sphere,
    Box,
    Cylinder,
    Sdf,
    Mesh,
}

impl<'de> Deserialize<'de> for Collider {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ColliderVisitor)
    }
}

struct ColliderVisitor;

impl<'de> Visitor<'de> for ColliderVisitor {
    type Value = Collider;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a kind of collider such as \"auto\", or a table with one of plane, sphere, box, cylinder, sdf, mesh",
        )
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Collider, E> {
        ColliderKind::deserialize(StrDeserializer::new(word)).map(Collider::Named)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Collider, A::Error> {
        let field = match map.next_key()? {
            Some(FieldKey::Plane) => ColliderField::Plane(map.next_value()?),
            Some(FieldKey::Sphere) => ColliderField::Sphere(map.next_value()?),
            Some(FieldKey::Box) => ColliderField::Box(map.next_value()?),
            Some(FieldKey::Cylinder) => ColliderField::Cylinder(map.next_value()?),
            Some(FieldKey::Sdf) => ColliderField::Sdf(map.next_value()?),
            Some(FieldKey::Mesh) => ColliderField::Mesh(map.next_value()?),
            None => {
                return Err(A::Error::custom(
                    "empty table, expected one of plane, sphere, box, cylinder, sdf, mesh",
                ));
            }
        };
        if map.next_key::<IgnoredAny>()?.is_some() {
            let message = "more than one key, expected exactly one of plane, sphere, box, cylinder, sdf, mesh";
            return Err(A::Error::custom(message));
        }
        Ok(Collider::Field(field))
    }
}

/// `samples`: the word `none` or a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Samples {
    /// No samples: the actor does not collide with others' fields.
    None,
    /// Samples given one by one.
    Explicit(ExplicitSamples),
}

impl Serialize for Samples {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::None => serializer.serialize_str("none"),
            Self::Explicit(samples) => samples.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Samples {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SamplesVisitor)
    }
}

struct SamplesVisitor;

impl<'de> Visitor<'de> for SamplesVisitor {
    type Value = Samples;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"none\" or a table with points and weights")
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Samples, E> {
        match word {
            "none" => Ok(Samples::None),
            _ => Err(E::unknown_variant(word, &["none"])),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Samples, A::Error> {
        ExplicitSamples::deserialize(MapAccessDeserializer::new(map)).map(Samples::Explicit)
    }
}
