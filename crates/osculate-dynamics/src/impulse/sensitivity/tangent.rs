//! Tangent: the whole trajectory in jets, one solve a step and direction.

use super::carry::{self, AnchorState};
use super::linear::{Friction, LivePair, Place, StepLinear};
use super::path::ImpulsePath;
use super::{ImpulseGradientError, ImpulseLayout, ImpulseParameters, Linearisation};
use crate::Wrench;
use crate::impulse::body::{Inertia, RigidState};
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
    /// Where a gyroscopic equation is not solved.
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
        let mut anchors: Vec<AnchorState<Jet<M>>> = Vec::new();
        for step in 0..self.steps.len() {
            let state = path.state(step);
            let old = if step > 0 { path.state(step - 1) } else { state };
            let pass = Pass { lin: self, linear: &self.steps[step], step, state, parameters };
            let points = pass.points();
            anchors = pass.carry(&anchors, old, &points);
            let next = pass.next(&points, &anchors)?;
            path.states.extend(next);
        }
        Ok(path)
    }
}

/// One step in jets.
struct Pass<'a, const M: usize> {
    lin: &'a Linearisation<'a>,
    linear: &'a StepLinear,
    step: usize,
    state: &'a [RigidState<Jet<M>>],
    parameters: &'a ImpulseParameters<Jet<M>>,
}

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
            let length = carry::length(&source.system, a.bodies);
            let footprint = source.settings.footprint;
            let position =
                carry::position(&points[from..to], i - first.unwrap_or(i), length, footprint);
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
                let memory = carry::Memory {
                    old: old[j],
                    partner: partner.map(|p| old[p]),
                    before: poses(before),
                    now: poses(self.state),
                    holder,
                };
                anchor.displacement = memory.displacement(&anchor);
            }
            anchor
        };
        record.anchors.iter().enumerate().map(place).collect()
    }

    /// Relative velocity of two bodies at a point.
    fn relative(
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

    /// Velocities after the step, as constants.
    fn after(&self, body: usize) -> [Vector3<Jet<M>>; 2] {
        match self.lin.source.system.items[body].unknown {
            Some(at) => [lift(&self.linear.after[at]), lift(&self.linear.after[at + 1])],
            None => self.linear.prescribed[body].map(|v| lift(&v)),
        }
    }

    fn start(&self, body: usize) -> [Vector3<Jet<M>>; 2] {
        match self.lin.source.system.items[body].unknown {
            Some(_) => [self.state[body].velocity, self.state[body].angular_velocity],
            None => self.linear.prescribed[body].map(|v| lift(&v)),
        }
    }

    /// Adds an impulse at a point.
    fn push(
        &self,
        wrench: &mut [Vector3<Jet<M>>],
        bodies: [usize; 2],
        p: &Vector3<Jet<M>>,
        impulse: &Vector3<Jet<M>>,
    ) {
        for (body, sign) in bodies.into_iter().zip([1.0, -1.0]) {
            if let Some(at) = self.lin.source.system.items[body].unknown {
                let f = impulse.map(|x| x * sign);
                wrench[at] += f;
                wrench[at + 1] += (p - self.state[body].center).cross(&f);
            }
        }
    }

    /// Residuals of the normal rows, and their impulses.
    fn normals(
        &self,
        points: &[ContactPoint<Jet<M>>],
        residual: &mut [Jet<M>],
        wrench: &mut [Vector3<Jet<M>>],
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
        (p, n, d): (Vector3<Jet<M>>, Vector3<Jet<M>>, Vector3<Jet<M>>),
        residual: &mut [Jet<M>],
        wrench: &mut [Vector3<Jet<M>>],
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
            Friction::Slide { along } | Friction::Empty { along } => {
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
        wrench: &mut [Vector3<Jet<M>>],
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
                    let r = self.parameters.torsional_radius(spin.bodies);
                    impulse += (r - r.re) * (sign * spin.budget);
                    impulse += (mu - mu.re) * (sign * spin.radius * spin.by_friction);
                }
            }
            for (body, sign) in spin.bodies.into_iter().zip([1.0, -1.0]) {
                if let Some(at) = source.system.items[body].unknown {
                    wrench[at + 1] += scale(&n, impulse * sign);
                }
            }
        }
    }

    /// Velocities without contact.
    fn free(&self) -> Result<Vec<Vector3<Jet<M>>>, ImpulseGradientError> {
        let source = &self.lin.source;
        let h = source.simulator.durations()[self.step];
        let (scene, dynamic) = (&self.parameters.scene, source.system.dynamic());
        let mut free = Vec::with_capacity(2 * dynamic);
        for (i, item) in source.system.items.iter().enumerate() {
            let Some(at) = item.unknown else { continue };
            let wrench = scene.wrenches.get(self.step * dynamic + at / 2).copied();
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

    /// The states after the step.
    fn next(
        &self,
        points: &[ContactPoint<Jet<M>>],
        anchors: &[AnchorState<Jet<M>>],
    ) -> Result<Vec<RigidState<Jet<M>>>, ImpulseGradientError> {
        let mut v = self.free()?;
        let mut wrench = vec![Vector3::zeros(); v.len()];
        let mut residual = vec![Jet::<M>::from(0.0); self.linear.rows.len()];
        self.normals(points, &mut residual, &mut wrench);
        self.spins(points, &mut residual, &mut wrench);
        for pair in &self.linear.pairs {
            let at = match pair.place {
                Place::Contact(i) => {
                    let middle = (points[i].point_a + points[i].point_b).map(|x| x * 0.5);
                    (middle, points[i].normal, Vector3::zeros())
                }
                Place::Anchor(i) => {
                    (anchors[i].position, anchors[i].normal, anchors[i].displacement)
                }
            };
            self.friction(pair, at, &mut residual, &mut wrench);
        }
        let items = &self.lin.source.system.items;
        for (i, item) in items.iter().enumerate() {
            let Some(at) = item.unknown else { continue };
            let body = &self.parameters.scene.bodies[i];
            let inertia = Inertia { mass: body.mass, tensor: body.inertia };
            v[at] += scale(&wrench[at], body.mass.recip());
            v[at + 1] +=
                mat3::apply(&inertia.inverse_in_world(&self.state[i].rotation), &wrench[at + 1]);
        }
        self.solve(&mut v, &residual);
        Ok(self.advanced(&v))
    }

    /// From the velocities at fixed impulses to those at the impulses that follow.
    fn solve(&self, v: &mut [Vector3<Jet<M>>], residual: &[Jet<M>]) {
        for k in 0..M {
            let mut change: Vec<Vector3<f64>> = v.iter().map(|v| v.map(|x| x.eps[k])).collect();
            let mut x: Vec<f64> = self
                .linear
                .rows
                .iter()
                .zip(residual)
                .map(|(row, e)| -e.eps[k] - row.velocity(&change))
                .collect();
            self.linear.solve(&mut x);
            let mut pushed = vec![Vector3::zeros(); v.len()];
            for (column, x) in self.linear.columns.iter().zip(&x) {
                column.apply(*x, &mut pushed);
            }
            self.linear.respond(&mut pushed);
            for ((v, own), more) in v.iter_mut().zip(&mut change).zip(&pushed) {
                *own += more;
                for (x, e) in v.iter_mut().zip(own.iter()) {
                    x.eps[k] = *e;
                }
            }
        }
        for (v, after) in v.iter_mut().zip(&self.linear.after) {
            for (x, value) in v.iter_mut().zip(after.iter()) {
                x.re = *value;
            }
        }
    }

    fn advanced(&self, v: &[Vector3<Jet<M>>]) -> Vec<RigidState<Jet<M>>> {
        let source = &self.lin.source;
        let h = source.simulator.durations()[self.step];
        let ends = source.trajectory.state(self.step + 1);
        let items = source.system.items.iter().zip(self.state).zip(ends);
        let advance = |((item, state), end): ((&crate::impulse::system::Item, _), &RigidState)| {
            let state: &RigidState<Jet<M>> = state;
            match item.unknown {
                Some(at) => state.advanced(&[v[at], v[at + 1]], h),
                // A prescribed pose is data.
                None if !item.motion.is_empty() => RigidState {
                    center: lift(&end.center),
                    rotation: end.rotation.map(Jet::constant),
                    ..*state
                },
                None => *state,
            }
        };
        items.map(advance).collect()
    }
}
