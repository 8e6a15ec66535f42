//! Pullback of the rows of a step, to points, normals and gaps of contacts, to anchors and to the numbers of the laws.

use super::Linearisation;
use super::adjoint::{Back, StateBar, Sweep};
use super::carry::AnchorBar;
use super::linear::{Friction, LivePair, Place, StepLinear};
use crate::impulse::body::RigidState;
use nalgebra::{Vector2, Vector3};
use osculate_contact::impulse::normal::NormalRow;
use osculate_math::Jet;

impl Sweep<'_> {
    /// Derivative of `Λ·w_p(v)`: returns those by point and by the direction's own change, adds those by the centres.
    fn pull_velocity(
        &self,
        bodies: [usize; 2],
        covector: &Vector3<f64>,
        (linear, v): (&StepLinear, Twists<'_>),
        bars: &mut [StateBar],
    ) -> Vector3<f64> {
        let mut by_point = Vector3::zeros();
        for (body, sign) in bodies.into_iter().zip([1.0, -1.0]) {
            let [_, w] = twist(self.lin, linear, v, body);
            let by = covector.cross(&w) * sign;
            by_point += by;
            bars[body].center -= by;
        }
        by_point
    }

    /// Relative velocity at a point.
    fn relative(
        &self,
        back: &Back<'_>,
        bodies: [usize; 2],
        p: &Vector3<f64>,
        v: Twists<'_>,
    ) -> Vector3<f64> {
        let [a, b] = bodies.map(|i| {
            let [l, w] = twist(self.lin, back.linear, v, i);
            l + w.cross(&(p - back.states[i].center))
        });
        a - b
    }

    pub(super) fn pull_normals(&mut self, back: &mut Back<'_>, bars: &mut [StateBar]) {
        let source = &self.lin.source;
        let h = source.simulator.durations()[back.step];
        for normal in &back.linear.normals {
            let contact = &back.record.contacts[normal.contact];
            let (bodies, n, p) = (contact.bodies, contact.point.normal, normal.point);
            let mu = back.rows[normal.unknown];
            let mut middle = Vector3::zeros();
            let mut by_normal = Vector3::zeros();
            let factors = [
                (normal.impulse, Twists::Change(&back.psi)),
                (-mu, Twists::After(&back.linear.after)),
            ];
            for (factor, v) in factors {
                middle += self.pull_velocity(bodies, &(n * factor), (back.linear, v), bars);
                by_normal += self.relative(back, bodies, &p, v) * factor;
            }
            let by_row = self.row(contact.point.gap, h);
            let mut gap = 0.0;
            if let Some(approach) = normal.rebound {
                let factor = -mu * source.parameters.restitution(bodies);
                let v = Twists::Start(back.states);
                middle += self.pull_velocity(bodies, &(n * factor), (back.linear, v), bars);
                by_normal += self.relative(back, bodies, &p, v) * factor;
                for (body, sign) in bodies.into_iter().zip([factor, -factor]) {
                    if source.system.items[body].unknown.is_some() {
                        bars[body].velocity += n * sign;
                        let arm = p - back.states[body].center;
                        bars[body].angular_velocity += arm.cross(&n) * sign;
                    }
                    self.total.restitution[body] -= 0.5 * mu * approach;
                }
            } else {
                gap = -mu * by_row.bias.eps[0];
            }
            for (j, sum) in self.total.normal.iter_mut().enumerate() {
                let bias = if normal.rebound.is_some() { 0.0 } else { by_row.bias.eps[1 + j] };
                *sum -= mu * (bias + normal.impulse * by_row.softness.eps[1 + j]);
            }
            // A spring's softness does not depend on the gap but by a branch.
            gap -= mu * normal.impulse * by_row.softness.eps[0];
            let bar = &mut back.contacts[normal.contact];
            bar.middle += middle;
            bar.normal += by_normal;
            bar.gap += gap;
        }
    }

    /// The law of a row in jets of the gap and of its numbers.
    fn row(&self, gap: f64, h: f64) -> NormalRow<Jet<6>> {
        let source = &self.lin.source;
        let x = &source.parameters.normal;
        let seeded: [Jet<6>; 5] =
            std::array::from_fn(|j| Jet::variable(x.get(j).copied().unwrap_or(0.0), 1 + j));
        super::parameters::row(&seeded, &source.settings.normal, Jet::variable(gap, 0), h)
    }

    pub(super) fn pull_pairs(
        &mut self,
        back: &mut Back<'_>,
        anchors: &mut [AnchorBar],
        bars: &mut [StateBar],
    ) {
        let h = self.lin.source.simulator.durations()[back.step];
        let beta = self.lin.source.settings.anchor_beta / h;
        for pair in &back.linear.pairs {
            let mu = match pair.friction {
                Friction::Stick => {
                    Vector2::new(back.rows[pair.unknown], back.rows[pair.unknown + 1])
                }
                Friction::Slide { along } => {
                    Vector2::new(-along.y, along.x) * back.rows[pair.unknown]
                }
                Friction::Empty { .. } => Vector2::zeros(),
            };
            let world = |x: &Vector2<f64>| pair.directions[0] * x.x + pair.directions[1] * x.y;
            let (f, lambda) = (world(&pair.impulse), world(&mu));
            let (mut middle, mut normal) = (Vector3::zeros(), Vector3::zeros());
            let n = &pair.normal;
            let factors =
                [(f, Twists::Change(&back.psi)), (-lambda, Twists::After(&back.linear.after))];
            for (covector, v) in factors {
                middle += self.pull_velocity(pair.bodies, &covector, (back.linear, v), bars);
                // dt = −n (t·dn)
                let u = self.relative(back, pair.bodies, &pair.point, v);
                normal -= covector * n.dot(&u);
            }
            self.pull_share(back, pair);
            match pair.place {
                Place::Contact(i) => {
                    back.contacts[i].middle += middle;
                    back.contacts[i].normal += normal;
                }
                Place::Anchor(i) => {
                    let d = &pair.displacement;
                    self.total.anchor_beta -= lambda.dot(d) / h;
                    anchors[i].position += middle;
                    anchors[i].normal += normal + lambda * (beta * n.dot(d));
                    anchors[i].displacement -= lambda * beta;
                }
            }
        }
    }

    /// By the coefficient of friction; exactly nothing where it sticks.
    fn pull_share(&mut self, back: &Back<'_>, pair: &LivePair) {
        let (Friction::Slide { along } | Friction::Empty { along }) = pair.friction else { return };
        let slip =
            Vector2::new(pair.lines[0].velocity(&back.psi), pair.lines[1].velocity(&back.psi));
        let by = slip.dot(&along) * pair.load / pair.parts;
        self.add_friction(pair.bodies, by);
    }

    fn add_friction(&mut self, bodies: [usize; 2], by: f64) {
        match self.total.friction.iter_mut().find(|(b, _)| *b == bodies) {
            Some((_, sum)) => *sum += by,
            None => self.total.friction.push((bodies, by)),
        }
    }

    pub(super) fn pull_spins(&mut self, back: &mut Back<'_>) {
        let linear = back.linear;
        for spin in &linear.spins {
            let relative = |v: Twists<'_>| {
                let [a, b] = spin.bodies.map(|b| twist(self.lin, linear, v, b)[1]);
                a - b
            };
            let change = relative(Twists::Change(&back.psi));
            let bar = &mut back.contacts[spin.contact];
            bar.normal += change * spin.impulse;
            match spin.state {
                Ok(unknown) => {
                    let after = relative(Twists::After(&linear.after));
                    bar.normal -= after * back.rows[unknown];
                }
                Err(sign) => {
                    let by = sign * spin.line.velocity(&back.psi);
                    let radii = &self.lin.source.parameters.torsional_radius;
                    let [a, b] = spin.bodies;
                    let larger = if radii[b] > radii[a] { b } else { a };
                    self.total.torsional_radius[larger] += by * spin.budget;
                    self.add_friction(spin.bodies, by * spin.radius * spin.by_friction);
                }
            }
        }
    }
}

/// Velocities of all bodies.
#[derive(Clone, Copy)]
enum Twists<'a> {
    /// After the step; prescribed ones included.
    After(&'a [Vector3<f64>]),
    /// At the start of the step; prescribed ones included.
    Start(&'a [RigidState]),
    /// A change of velocities: none of bodies that are not solved for.
    Change(&'a [Vector3<f64>]),
}

fn twist(
    lin: &Linearisation<'_>,
    linear: &StepLinear,
    v: Twists<'_>,
    body: usize,
) -> [Vector3<f64>; 2] {
    match (v, lin.source.system.items[body].unknown) {
        (Twists::After(v) | Twists::Change(v), Some(at)) => [v[at], v[at + 1]],
        (Twists::Start(s), Some(_)) => [s[body].velocity, s[body].angular_velocity],
        (Twists::Change(_), None) => [Vector3::zeros(); 2],
        (Twists::After(_) | Twists::Start(_), None) => linear.prescribed[body],
    }
}
