//! Pullback of the rows of a step, to points, normals and gaps of contacts, to anchors and to the numbers of the laws.

use super::adjoint::{StateBar, Sweep};
use super::back::{Back, Field, LastPair, PairTwists};
use super::carry::AnchorBar;
use super::linear::{Friction, LivePair, Place};
use super::normal_slopes::slopes;
use nalgebra::{Vector2, Vector3};

impl Sweep<'_> {
    /// Derivative of `Λ·w_p(v)`: returns that by the point, adds those by the centres and by the columns of links; and `w_p(v)`.
    #[inline]
    pub(super) fn pull_velocity(
        &self,
        back: &mut Back<'_>,
        (twists, p): (&PairTwists, &Vector3<f64>),
        covector: &Vector3<f64>,
        bars: &mut [StateBar],
    ) -> [Vector3<f64>; 2] {
        let [a, b] = twists.bodies;
        let [[v, w], [u, z]] = &twists.of;
        let [x, y] = [a, b].map(|body| p - back.states[body].center);
        let (first, second) = (covector.cross(w), z.cross(covector));
        bars[a].center -= first;
        bars[b].center -= second;
        if self.tree.is_some() {
            let field = twists.field;
            back.charge(self.source, a, field, [*covector, x.cross(covector)]);
            back.charge(self.source, b, field, [-covector, -y.cross(covector)]);
        }
        [first + second, v + w.cross(&x) - u - z.cross(&y)]
    }

    /// The same of a covector on the relative angular velocity.
    pub(super) fn pull_spin(
        &self,
        back: &mut Back<'_>,
        bodies: [usize; 2],
        covector: &Vector3<f64>,
        field: Field,
    ) {
        for (body, sign) in bodies.into_iter().zip([1.0, -1.0]) {
            back.charge(self.source, body, field, [Vector3::zeros(), covector * sign]);
        }
    }

    pub(super) fn pull_normals(&mut self, back: &mut Back<'_>, bars: &mut [StateBar]) {
        let source = self.source;
        let h = source.simulator.durations()[back.step];
        let mut last = LastPair::default();
        for normal in &back.linear.normals {
            let contact = &back.record.contacts[normal.contact];
            let (bodies, n, p) = (contact.bodies, contact.point.normal, normal.point);
            let mu = back.rows[normal.unknown];
            let mut middle = Vector3::zeros();
            let mut by_normal = Vector3::zeros();
            for (factor, twists) in [normal.impulse, -mu].iter().zip(last.of(back, source, bodies))
            {
                let [by_point, u] = self.pull_velocity(back, (twists, &p), &(n * *factor), bars);
                middle += by_point;
                by_normal += u * *factor;
            }
            let slopes = slopes(&source.settings.normal, contact.point.gap, h);
            let mut gap = 0.0;
            if let Some(approach) = normal.rebound {
                let factor = -mu * source.parameters.restitution(bodies);
                let twists = back.twists(source, bodies, Field::Start);
                let [by_point, u] = self.pull_velocity(back, (&twists, &p), &(n * factor), bars);
                middle += by_point;
                by_normal += u * factor;
                for (body, sign) in bodies.into_iter().zip([factor, -factor]) {
                    if source.system.items[body].inertia.is_some() {
                        bars[body].velocity += n * sign;
                        let arm = p - back.states[body].center;
                        bars[body].angular_velocity += arm.cross(&n) * sign;
                    }
                    self.total.restitution[body] -= 0.5 * mu * approach;
                }
            } else {
                gap = -mu * slopes.bias_by_gap;
            }
            for (j, sum) in self.total.normal.iter_mut().enumerate() {
                let bias = if normal.rebound.is_some() { 0.0 } else { slopes.bias[j] };
                *sum -= mu * (bias + normal.impulse * slopes.softness[j]);
            }
            let bar = &mut back.contacts[normal.contact];
            bar.middle += middle;
            bar.normal += by_normal;
            bar.gap += gap;
        }
    }

    pub(super) fn pull_pairs(
        &mut self,
        back: &mut Back<'_>,
        anchors: &mut [AnchorBar],
        bars: &mut [StateBar],
    ) {
        let h = self.source.simulator.durations()[back.step];
        let beta = self.source.settings.anchor_beta / h;
        let mut last = LastPair::default();
        for pair in &back.linear.pairs {
            let mu = match pair.friction {
                Friction::Stick => {
                    Vector2::new(back.rows[pair.unknown], back.rows[pair.unknown + 1])
                }
                Friction::Slide { along, .. } => {
                    Vector2::new(-along.y, along.x) * back.rows[pair.unknown]
                }
                Friction::Empty { .. } => Vector2::zeros(),
            };
            let world = |x: &Vector2<f64>| pair.directions[0] * x.x + pair.directions[1] * x.y;
            let (f, lambda) = (world(&pair.impulse), world(&mu));
            let (mut middle, mut normal) = (Vector3::zeros(), Vector3::zeros());
            let n = &pair.normal;
            let twists = last.of(back, self.source, pair.bodies);
            for (covector, twists) in [f, -lambda].iter().zip(twists) {
                let [by_point, u] = self.pull_velocity(back, (twists, &pair.point), covector, bars);
                middle += by_point;
                // dt = −n (t·dn)
                normal -= covector * n.dot(&u);
                if twists.field == Field::Change {
                    self.pull_share(pair, &u);
                }
            }
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
    ///
    /// * `u`: relative velocity at `ψ`.
    fn pull_share(&mut self, pair: &LivePair, u: &Vector3<f64>) {
        let (Friction::Slide { along, .. } | Friction::Empty { along }) = pair.friction else {
            return;
        };
        let slip = Vector2::new(pair.directions[0].dot(u), pair.directions[1].dot(u));
        let by = slip.dot(&along) * pair.load / pair.parts;
        self.add_friction(pair.bodies, by);
    }

    pub(super) fn add_friction(&mut self, bodies: [usize; 2], by: f64) {
        match self.total.friction.iter_mut().find(|(b, _)| *b == bodies) {
            Some((_, sum)) => *sum += by,
            None => self.total.friction.push((bodies, by)),
        }
    }

    pub(super) fn pull_spins(&mut self, back: &mut Back<'_>) {
        let source = self.source;
        for spin in &back.linear.spins {
            let relative = |back: &Back<'_>, field| back.twists(source, spin.bodies, field).spin();
            let n = back.record.contacts[spin.contact].point.normal;
            let change = relative(back, Field::Change);
            back.contacts[spin.contact].normal += change * spin.impulse;
            self.pull_spin(back, spin.bodies, &(n * spin.impulse), Field::Change);
            match spin.state {
                Ok(unknown) => {
                    let mu = back.rows[unknown];
                    let after = relative(back, Field::After);
                    back.contacts[spin.contact].normal -= after * mu;
                    self.pull_spin(back, spin.bodies, &(n * -mu), Field::After);
                }
                Err(sign) => {
                    let by = sign * spin.line.view().velocity(&back.psi);
                    self.add_radius(back, (spin.bodies, spin.nearest), by * spin.budget);
                    self.add_friction(spin.bodies, by * spin.radius * spin.by_friction);
                }
            }
        }
    }
}
