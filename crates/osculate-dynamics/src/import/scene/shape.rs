//! Geometries as shapes and colliders of actors.

use super::super::description::{Geometry, GeometryShape, MeshShape};
use super::super::notes::Outcome;
use super::link::{table, with_mass};
use super::{Toucher, Writer, facets};
use crate::articulated::{Joint, JointKind};
use crate::file::{
    Actor, ActorPose, BoxShape, Collider, ColliderField, ColliderKind, Icosphere, MeshFile,
    PlaneField, Samples, Shape, SphereField, Triangles,
};
use osculate_geometry::mesh::TriangleMesh;
use osculate_math::se3::Pose;
use std::path::{Path, PathBuf};

/// Squares along the edge of a box, and how often the triangles of a ball are cut.
const DIVISIONS: usize = 2;

/// What an actor needs to touch.
struct Form {
    shape: Shape,
    collider: Collider,
    samples: Option<Samples>,
}

impl Writer<'_> {
    /// Writes a geometry; `place` is in the actor of the host, in the world if there is none.
    pub(super) fn geometry(
        &mut self,
        (link, host): (Option<usize>, Option<usize>),
        geometry: &Geometry,
        place: &Pose,
    ) {
        if !geometry.contact.acts() {
            self.note_geometry(geometry, Outcome::Ignored, "it touches nothing");
            return;
        }
        let form = self.form(geometry);
        let owner = host.and_then(|i| self.actors[i].clone());
        if let Some(owner) = &owner
            && self.only_geometry(host)
            && is_identity(place)
            && let Some(actor) = self.file.actors.iter_mut().find(|a| a.name == *owner)
        {
            form.fill(actor);
            let name = owner.clone();
            self.touch(name, link, geometry);
            return;
        }
        let part = if geometry.name.is_empty() { "geometry" } else { &geometry.name };
        let around = link.map_or("world", |i| self.robot.links[i].name.as_str());
        let name = self.name(&format!("{around}_{part}"));
        let mut actor = match &owner {
            Some(owner) => Actor { parent: Some(owner.clone()), ..with_mass(&self.negligible()) },
            None => Actor { fixed: true, pose: ActorPose::from(place), ..Actor::default() },
        };
        actor.name.clone_from(&name);
        form.fill(&mut actor);
        self.file.actors.push(actor);
        if owner.is_some() {
            let fixed = Joint::new(JointKind::Fixed);
            self.file.joints.push(table(&name, owner, &fixed, place));
        }
        self.touch(name, link, geometry);
    }

    fn touch(&mut self, actor: String, link: Option<usize>, geometry: &Geometry) {
        self.contact_of(&actor, geometry);
        let (name, line, contact) = (geometry.name.clone(), geometry.line, geometry.contact);
        self.touchers.push(Toucher { actor, geometry: name, line, link, contact });
    }

    /// Whether a host has one geometry that touches.
    fn only_geometry(&self, host: Option<usize>) -> bool {
        let links = self.robot.links.iter().zip(&self.hosts).filter(|(_, h)| h.link == host);
        let geometries = links.flat_map(|(l, _)| &l.geometries);
        geometries.filter(|g| g.contact.acts()).count() == 1
    }

    fn form(&mut self, geometry: &Geometry) -> Form {
        let auto = Collider::Named(ColliderKind::Auto);
        let plain = |shape| Form { shape, collider: auto.clone(), samples: None };
        match &geometry.shape {
            GeometryShape::Plane => {
                let shape = Shape::Plane(PlaneField { normal: [0.0, 0.0, 1.0], offset: 0.0 });
                Form { samples: Some(Samples::None), ..plain(shape) }
            }
            GeometryShape::Sphere { radius } => {
                let radius = *radius;
                let field = ColliderField::Sphere(SphereField { center: [0.0; 3], radius });
                let shape = Shape::Icosphere(Icosphere { radius, subdivisions: DIVISIONS });
                Form { collider: Collider::Field(field), ..plain(shape) }
            }
            GeometryShape::Box { half_extents } => {
                let half_extents = (*half_extents).into();
                let shape = BoxShape { subdivisions: DIVISIONS, ..BoxShape::new(half_extents) };
                plain(Shape::Box(shape))
            }
            GeometryShape::Capsule { radius, half_length } => {
                self.faceted(geometry, facets::capsule(*radius, *half_length))
            }
            GeometryShape::Cylinder { radius, half_length } => {
                self.faceted(geometry, facets::cylinder(*radius, *half_length))
            }
            GeometryShape::Ellipsoid { half_axes } => {
                self.faceted(geometry, facets::ellipsoid(half_axes))
            }
            GeometryShape::Mesh(mesh) => self.mesh(geometry, mesh),
        }
    }

    fn faceted(&mut self, geometry: &Geometry, triangles: Triangles) -> Form {
        let reason = format!("it is a mesh of {} triangles in a scene", triangles.triangles.len());
        self.note_geometry(geometry, Outcome::Changed, &reason);
        let collider = Collider::Named(ColliderKind::Mesh);
        Form { shape: Shape::Triangles(triangles), collider, samples: None }
    }

    fn mesh(&mut self, geometry: &Geometry, mesh: &MeshShape) -> Form {
        let scale = mesh.scale.x;
        let uniform = scale > 0.0 && mesh.scale.iter().all(|s| s.to_bits() == scale.to_bits());
        let shape = if uniform {
            let file = self.path(&mesh.path);
            Shape::Mesh(MeshFile { scale, ..MeshFile::from(file) })
        } else {
            let reason = "stretched or mirrored, so its triangles stand in the scene";
            self.note_geometry(geometry, Outcome::Changed, reason);
            Shape::Triangles(facets::of_mesh(&mesh.mesh))
        };
        let closed = TriangleMesh::is_closed(&mesh.mesh);
        if !closed {
            let reason = "an open mesh has no inside: it touches others, nothing touches it";
            self.note_geometry(geometry, Outcome::Doubtful, reason);
        }
        let kind = if closed { ColliderKind::Auto } else { ColliderKind::None };
        Form { shape, collider: Collider::Named(kind), samples: None }
    }

    /// A path from the folder of the scene where it lies below it, else an absolute one.
    fn path(&self, path: &Path) -> PathBuf {
        let here = if self.folder.as_os_str().is_empty() { Path::new(".") } else { self.folder };
        let Ok(file) = path.canonicalize() else { return path.into() };
        match here.canonicalize() {
            Ok(folder) => file.strip_prefix(folder).map(Into::into).unwrap_or(file),
            Err(_) => file,
        }
    }
}

impl Form {
    fn fill(self, actor: &mut Actor) {
        actor.shape = Some(self.shape);
        actor.collider = self.collider;
        actor.samples = self.samples;
    }
}

fn is_identity(pose: &Pose) -> bool {
    let none = pose.position.iter().all(|x| x.abs() <= 0.0);
    none && (pose.rotation - nalgebra::Matrix3::identity()).amax() <= 0.0
}
