//! Tangent: the whole trajectory in jets, one solve a step and direction.

use super::carry::{self, AnchorState};
use super::linear::{Friction, LivePair, Place, StepLinear};
use super::path::ImpulsePath;
use super::stretch;
use super::tree::{TreePass, TreePath};
use super::{ImpulseGradientError, ImpulseLayout, ImpulseParameters, Linearisation};
use crate::Wrench;
use crate::impulse::body::{Inertia, RigidState};
use crate::impulse::tree::{flat_of, padded};
use crate::sensitivity::Outcome;
use nalgebra::{Vector2, Vector3};
use osculate_geometry::manifold::ContactPoint;
use osculate_math::{Jet, Scalar, lift, mat3, norm::scale};

impl Linearisation<'_> {
    /// Outcome and its derivative by each parameter of `which` (indices of the layout), `M` at a time.
    ///
    /// # Errors
    /// Where a gyroscopic equation is not solved.
    pub fn tangent<const M: usize>(
        &self,
        which: &[usize],
        outcome: &impl Outcome,
    ) -> Result<(f64, Vec<f64>), ImpulseGradientError> {
        let layout = ImpulseLayout::new(self.source.simulator, self.source.parameters);
        let (mut value, mut gradient) = (0.0, Vec::with_capacity(which.len()));
        for chunk in which.chunks(M) {
            let mut seeded = self.source.parameters.lift::<Jet<M>>();
            for (direction, &i) in chunk.iter().enumerate() {
                layout.add(&mut seeded, i, Jet::variable(0.0, direction));
            }
            let path = self.path(&seeded)?;
            let total = path.evaluate(&seeded, outcome);
            value = total.re;
            gradient.extend_from_slice(&total.eps[..chunk.len()]);
        }
        Ok((value, gradient))
    }

    /// The trajectory with its derivatives along `M` directions of the parameters.
    ///
    /// * `parameters`: the values that were linearised, each with its derivative along the directions.
    ///
    /// # Errors
    /// Where a gyroscopic equation is not solved, a tree has no mass matrix, or the trajectory's flag says stop.
    pub fn path<const M: usize>(
        &self,
        parameters: &ImpulseParameters<Jet<M>>,
    ) -> Result<ImpulsePath<Jet<M>>, ImpulseGradientError> {
        let items = &self.source.system.items;
        let first = parameters.scene.bodies.iter().zip(items).map(|(p, item)| {
            let moves = item.inertia.is_some();
            let moving = |v: Vector3<Jet<M>>| if moves { v } else { Vector3::zeros() };
            RigidState {
                center: p.position + mat3::apply(&p.rotation, &p.center),
                rotation: p.rotation,
                velocity: moving(p.velocity),
                angular_velocity: moving(p.angular_velocity),
            }
        });
        let mut path = ImpulsePath { bodies: items.len(), states: first.collect() };
        let mut tree = TreePath::new(&self.source, parameters);
        if let Some(tree) = &tree {
            tree.place(&mut path.states);
        }
        let mut anchors: Vec<AnchorState<Jet<M>>> = Vec::new();
        for (step, linear) in self.steps.iter().enumerate() {
            self.source.trajectory.go_on(step)?;
            let state = path.state(step);
            let old = if step > 0 { path.state(step - 1) } else { state };
            let start = tree.as_ref().zip(linear.tree.as_ref());
            let tree_pass = start.map(|(path, own)| path.pass(own, step));
            let pass = Pass { lin: self, linear, step, state, parameters, tree: tree_pass };
            let points = pass.points();
            anchors = pass.carry(&anchors, old, &points);
            let v = pass.velocities(&points, &anchors)?;
            let mut next = pass.advanced(&v);
            if let (Some(tree), Some(own)) = (&mut tree, &linear.tree) {
                let after = flat_of(&v[own.at..], own.after.len());
                tree.advance(after, self.source.simulator.durations()[step])
                    .map_err(|source| ImpulseGradientError::Tree { step, source })?;
                tree.place(&mut next);
            }
            path.states.extend(next);
        }
        Ok(path)
    }
}

/// One step in jets.
pub(super) struct Pass<'a, const M: usize> {
    pub(super) lin: &'a Linearisation<'a>,
    pub(super) linear: &'a StepLinear,
    pub(super) step: usize,
    pub(super) state: &'a [RigidState<Jet<M>>],
    pub(super) parameters: &'a ImpulseParameters<Jet<M>>,
    tree: Option<TreePass<'a, M>>,
}

/// Linear and angular impulse on each body, about its centre of mass.
type Wrenches<const M: usize> = Vec<[Vector3<Jet<M>>; 2]>;

impl<const M: usize> Pass<'_, M> {
    /// The contacts of the record where the bodies are now.
    fn points(&self) -> Vec<ContactPoint<Jet<M>>> {
        let bodies = &self.parameters.scene.bodies;
        let record = &self.lin.source.trajectory.records[self.step];
        let pose = |i: usize| self.state[i].local_pose(&bodies[i].center);
        let point = |c: &crate::impulse::ContactImpulse| {
            let colliders = c.bodies.map(|b| bodies[b].collider.as_ref());
            c.contact.of_colliders(colliders).evaluate(&pose(c.bodies[0]), &pose(c.bodies[1]))
        };
        record.contacts.iter().map(point).collect()
    }

    /// Anchors of the step, with what they remember.
    fn carry(
        &self,
        old: &[AnchorState<Jet<M>>],
        before: &[RigidState<Jet<M>>],
        points: &[ContactPoint<Jet<M>>],
    ) -> Vec<AnchorState<Jet<M>>> {
        let source = &self.lin.source;
        let records = &source.trajectory.records;
        let record = &records[self.step];
        let place = |(i, a): (usize, &crate::impulse::AnchorImpulse)| {
            let [from, to] = a.contacts;
            let first = record.anchors.iter().position(|b| b.contacts == a.contacts);
            let position = match source.together(record, a) {
                true => carry::middle(&points[from..to]),
                false => {
                    let length = carry::length(&source.system, a.bodies);
                    let footprint = (length, source.settings.footprint);
                    carry::position(&points[from..to], i - first.unwrap_or(i), footprint)
                }
            };
            let mut anchor = AnchorState {
                position,
                normal: points[from].normal,
                displacement: Vector3::zeros(),
            };
            if let Some(j) = a.continues {
                let past = &records[self.step - 1].anchors;
                let partner = past[j].partner.filter(|&p| !past[p].released);
                let holder = carry::holder_of(&source.system, a.bodies);
                let poses = |states: &[RigidState<Jet<M>>]| a.bodies.map(|b| states[b].pose());
                let (before, now) = (poses(before), poses(self.state));
                let motions = std::array::from_fn(|k| carry::motion(&before[k], &now[k]));
                let (old, partner) = (old[j], partner.map(|p| old[p]));
                let memory = carry::Memory { old, partner, before, now, motions, holder };
                anchor.displacement = memory.displacement(&anchor);
            }
            anchor
        };
        let mut anchors: Vec<_> = record.anchors.iter().enumerate().map(place).collect();
        for (i, parts) in record.stretched() {
            let (before, after) = anchors.split_at_mut(i + 1);
            stretch::unstretch(&mut before[i], &mut after[0], parts);
        }
        anchors
    }

    /// Point, normal and displacement of a place.
    pub(super) fn at(
        &self,
        place: Place,
        points: &[ContactPoint<Jet<M>>],
        anchors: &[AnchorState<Jet<M>>],
    ) -> [Vector3<Jet<M>>; 3] {
        match place {
            Place::Contact(i) => {
                let middle = (points[i].point_a + points[i].point_b).map(|x| x * 0.5);
                [middle, points[i].normal, Vector3::zeros()]
            }
            Place::Anchor(i) => [anchors[i].position, anchors[i].normal, anchors[i].displacement],
        }
    }

    /// Relative velocity of two bodies at a point.
    pub(super) fn relative(
        &self,
        bodies: [usize; 2],
        p: &Vector3<Jet<M>>,
        velocity: impl Fn(usize) -> [Vector3<Jet<M>>; 2],
    ) -> Vector3<Jet<M>> {
        let [a, b] = bodies.map(|i| {
            let [v, w] = velocity(i);
            v + w.cross(&(p - self.state[i].center))
        });
        a - b
    }

    /// Velocities after the step, those that are solved for as constants.
    pub(super) fn after(&self, body: usize) -> [Vector3<Jet<M>>; 2] {
        let item = &self.lin.source.system.items[body];
        match (item.unknown, item.link, &self.tree) {
            (Some(at), ..) => [lift(&self.linear.after[at]), lift(&self.linear.after[at + 1])],
            (None, Some([_, link]), Some(tree)) => tree.links[link].into(),
            _ => self.linear.prescribed(body).map(|v| lift(&v)),
        }
    }

    fn start(&self, body: usize) -> [Vector3<Jet<M>>; 2] {
        match self.lin.source.system.items[body].inertia {
            Some(_) => [self.state[body].velocity, self.state[body].angular_velocity],
            None => self.linear.prescribed(body).map(|v| lift(&v)),
        }
    }

    /// Adds an impulse at a point.
    pub(super) fn push(
        &self,
        wrench: &mut [[Vector3<Jet<M>>; 2]],
        bodies: [usize; 2],
        p: &Vector3<Jet<M>>,
        impulse: &Vector3<Jet<M>>,
    ) {
        for (body, sign) in bodies.into_iter().zip([1.0, -1.0]) {
            if self.lin.source.system.items[body].inertia.is_some() {
                let f = impulse.map(|x| x * sign);
                wrench[body][0] += f;
                wrench[body][1] += (p - self.state[body].center).cross(&f);
            }
        }
    }

    /// Adds an angular impulse.
    pub(super) fn twist(
        &self,
        wrench: &mut [[Vector3<Jet<M>>; 2]],
        bodies: [usize; 2],
        impulse: &Vector3<Jet<M>>,
    ) {
        for (body, sign) in bodies.into_iter().zip([1.0, -1.0]) {
            wrench[body][1] += impulse.map(|x| x * sign);
        }
    }

    /// Residuals of the normal rows, and their impulses.
    fn normals(
        &self,
        points: &[ContactPoint<Jet<M>>],
        residual: &mut [Jet<M>],
        wrench: &mut [[Vector3<Jet<M>>; 2]],
    ) {
        let source = &self.lin.source;
        let record = &source.trajectory.records[self.step];
        let h = source.simulator.durations()[self.step];
        for normal in &self.linear.normals {
            let (bodies, point) = (record.contacts[normal.contact].bodies, &points[normal.contact]);
            let middle = (point.point_a + point.point_b).map(|x| x * 0.5);
            let row = self.parameters.row(&source.settings.normal, point.gap, h);
            let bias = match normal.rebound {
                Some(_) => {
                    let u = self.relative(bodies, &middle, |b| self.start(b)).dot(&point.normal);
                    self.parameters.restitution(bodies) * u
                }
                None => row.bias,
            };
            let u = self.relative(bodies, &middle, |b| self.after(b)).dot(&point.normal);
            residual[normal.unknown] = u + bias + row.softness * normal.impulse;
            let impulse = point.normal.map(|x| x * normal.impulse);
            self.push(wrench, bodies, &middle, &impulse);
        }
    }

    /// Residuals of a friction pair, and its impulse.
    fn friction(
        &self,
        pair: &LivePair,
        [p, n, d]: [Vector3<Jet<M>>; 3],
        residual: &mut [Jet<M>],
        wrench: &mut [[Vector3<Jet<M>>; 2]],
    ) {
        let source = &self.lin.source;
        let h = source.simulator.durations()[self.step];
        // Least turn of the basis with the normal: to first order all there is.
        let turned = n - lift(&pair.normal);
        let t = pair.directions.map(|t| {
            let t: Vector3<Jet<M>> = lift(&t);
            t - scale(&lift(&pair.normal), t.dot(&turned))
        });
        let u = self.relative(pair.bodies, &p, |b| self.after(b))
            + scale(&d, self.parameters.anchor_beta / h);
        let slip = Vector2::new(t[0].dot(&u), t[1].dot(&u));
        let scene = source.simulator.scene();
        let mu = self.parameters.friction(scene, &source.settings, pair.bodies);
        let grown = (mu - mu.re) * (pair.load / pair.parts);
        let mut impulse =
            scale(&t[0], Jet::from(pair.impulse.x)) + scale(&t[1], Jet::from(pair.impulse.y));
        match pair.friction {
            Friction::Stick => {
                residual[pair.unknown] = slip.x;
                residual[pair.unknown + 1] = slip.y;
            }
            Friction::Slide { along, .. } | Friction::Empty { along } => {
                if matches!(pair.friction, Friction::Slide { .. }) {
                    residual[pair.unknown] = slip.y * along.x - slip.x * along.y;
                }
                impulse += scale(&t[0], grown * along.x) + scale(&t[1], grown * along.y);
            }
        }
        self.push(wrench, pair.bodies, &p, &impulse);
    }

    /// Residuals of spin rows, and their impulses.
    fn spins(
        &self,
        points: &[ContactPoint<Jet<M>>],
        residual: &mut [Jet<M>],
        wrench: &mut [[Vector3<Jet<M>>; 2]],
    ) {
        let source = &self.lin.source;
        for spin in &self.linear.spins {
            let n = points[spin.contact].normal;
            let mut impulse = Jet::from(spin.impulse);
            match spin.state {
                Ok(unknown) => {
                    let [a, b] = spin.bodies.map(|b| self.after(b)[1]);
                    residual[unknown] = n.dot(&(a - b));
                }
                Err(sign) => {
                    let scene = source.simulator.scene();
                    let mu = self.parameters.friction(scene, &source.settings, spin.bodies);
                    let r = self.parameters.spin_radius(spin.bodies, points[spin.nearest].gap);
                    impulse += (r - r.re) * (sign * spin.budget);
                    impulse += (mu - mu.re) * (sign * spin.radius * spin.by_friction);
                }
            }
            self.twist(wrench, spin.bodies, &scale(&n, impulse));
        }
    }

    /// Velocities without contact.
    fn free(&self) -> Result<Vec<Vector3<Jet<M>>>, ImpulseGradientError> {
        let source = &self.lin.source;
        let h = source.simulator.durations()[self.step];
        let (scene, dynamic) = (&self.parameters.scene, source.system.dynamic());
        let mut free = Vec::with_capacity(2 * dynamic);
        for (i, item) in source.system.items.iter().enumerate() {
            let (Some(_), Some(d)) = (item.unknown, item.dynamic) else { continue };
            let wrench = scene.wrenches.get(self.step * dynamic + d).copied();
            let Wrench { force, torque } = wrench.unwrap_or_else(Wrench::zero);
            let body = &scene.bodies[i];
            let weight =
                if item.has_gravity { scale(&scene.gravity, body.mass) } else { Vector3::zeros() };
            let inertia = Inertia { mass: body.mass, tensor: body.inertia };
            let gyroscopic = source.settings.gyroscopic;
            let v = inertia.free_velocity(&self.state[i], &[force + weight, torque], h, gyroscopic);
            let step = self.step;
            free.extend(
                v.map_err(|e| ImpulseGradientError::TurnsTooFast { step, angle: e.angle })?,
            );
        }
        Ok(free)
    }

    /// The velocities after the step.
    fn velocities(
        &self,
        points: &[ContactPoint<Jet<M>>],
        anchors: &[AnchorState<Jet<M>>],
    ) -> Result<Vec<Vector3<Jet<M>>>, ImpulseGradientError> {
        let mut v = self.free()?;
        let items = &self.lin.source.system.items;
        let mut wrench: Wrenches<M> = vec![[Vector3::zeros(); 2]; items.len()];
        let mut residual = vec![Jet::<M>::from(0.0); self.linear.rows.len()];
        self.normals(points, &mut residual, &mut wrench);
        for live in &self.linear.torsions {
            self.torsion(live, (points, anchors), &mut residual, &mut wrench);
        }
        self.spins(points, &mut residual, &mut wrench);
        for live in &self.linear.ellipsoids {
            self.ellipsoid(live, &points[live.contact], &mut residual, &mut wrench);
        }
        for pair in &self.linear.pairs {
            let at = self.at(pair.place, points, anchors);
            self.friction(pair, at, &mut residual, &mut wrench);
        }
        for (i, item) in items.iter().enumerate() {
            let Some(at) = item.unknown else { continue };
            let body = &self.parameters.scene.bodies[i];
            let inertia = Inertia { mass: body.mass, tensor: body.inertia };
            let inverse = inertia.inverse_in_world(&self.state[i].rotation);
            v[at] += scale(&wrench[i][0], body.mass.recip());
            v[at + 1] += mat3::apply(&inverse, &wrench[i][1]);
        }
        if let Some(tree) = &self.tree {
            let source = &self.lin.source;
            v.extend(padded(&tree.change(source, self.parameters, &wrench, &mut residual)));
        }
        self.solve(&mut v, &residual);
        Ok(v)
    }
}
