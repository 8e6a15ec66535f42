//! Links as bodies of their own, and the way of their impulses through the tree.
//!
//! ```text
//! link i     V_i = J_i v          six numbers, J_i of its centre of mass
//! in a sweep V_i ← V_i + W_i w    rows see W_i in place of the whole tree
//! after it   v ← v + Ĥ⁻¹ Σ J_iᵀ Δw_i,  V_i = J_i v
//! ```
//!
//! With `Ĥ = Lᵀ D L` and `Y_i = L⁻ᵀ J_iᵀ`, whose row `k` is zero unless degree of freedom `k` moves link `i`,
//!
//! ```text
//! ‖Σ J_iᵀ w_i‖²_{Ĥ⁻¹} = Σ_k (Σ_i Y_ik·w_i)²/D_k  ≤  Σ_k n_k Σ_i (Y_ik·w_i)²/D_k = Σ_i w_iᵀ W_i w_i,   W_i = Σ_k n_k Y_ik Y_ikᵀ/D_k
//! ```
//!
//! by Cauchy–Schwarz, where `n_k` counts the links with rows that `k` moves: the mobility of each degree of freedom counts once for each of
//! them (mass splitting). What a sweep minimises is therefore nowhere below the true energy and equal to it where the
//! sweep starts, so that rows without friction never raise it. A sweep that changes nothing has `Δw = 0`, and velocities are those of the tree:
//! the fixed points are those of the immediate response, for any `W_i`.

use super::build::Touch;
use super::row::{Side, Velocities};
use super::rows::Rows;
use super::system::System;
use super::tree::Trees;
use crate::articulated::MassFactor;
use crate::articulated::immediate::TreeResponse;
use nalgebra::{Matrix6, Vector3, Vector6};
use std::collections::BTreeSet;

/// A link that has rows.
#[derive(Clone, Debug)]
struct LinkBody {
    /// Index of its two vectors.
    at: usize,
    /// Degrees of freedom that move it, each with its column of `J`, linear and angular.
    columns: Vec<(usize, [Vector3<f64>; 2])>,
    /// `W`.
    response: Matrix6<f64>,
    /// Impulse and its moment that the tree has had from it \[N s, N m s\].
    pushed: [Vector3<f64>; 2],
}

/// A tree with links that are bodies of their own.
#[derive(Clone, Debug)]
pub(crate) struct TreePass {
    /// Where its velocities stand.
    at: usize,
    factor: MassFactor,
    dofs: usize,
    links: Vec<LinkBody>,
}

/// All trees of a step, and which link each body is.
#[derive(Clone, Debug)]
pub(crate) struct Propagation {
    pub(crate) passes: Vec<TreePass>,
    /// Tree and link of each body that is a link with rows.
    of_body: Vec<Option<[usize; 2]>>,
}

impl Propagation {
    /// Links that touch something beside their own tree become bodies.
    ///
    /// * `first`: index of their first vector.
    pub(crate) fn new(
        system: &System,
        touches: &[Touch],
        (trees, responses): (&Trees, &[TreeResponse<'_>]),
        mut first: usize,
    ) -> Self {
        let tree = |body: usize| system.items[body].link.map(|[tree, _]| tree);
        let apart = touches.iter().filter(|t| tree(t.bodies[0]) != tree(t.bodies[1]));
        let bodies: BTreeSet<usize> =
            apart.flat_map(|t| t.bodies).filter(|&b| tree(b).is_some()).collect();
        let mut passes = Vec::new();
        let mut of_body = vec![None; system.items.len()];
        for (which, (tree, response)) in trees.list.iter().zip(responses).enumerate() {
            let own = bodies.iter().filter_map(|&body| {
                let [tree, link] = system.items[body].link?;
                (tree == which).then_some((body, link))
            });
            let own: Vec<(usize, usize)> = own.collect();
            if own.is_empty() {
                continue;
            }
            let mut shared = vec![0.0; tree.model().dofs()];
            for (_, link) in &own {
                tree.model().support(*link).iter().for_each(|&k| shared[k] += 1.0);
            }
            let mut links = Vec::with_capacity(own.len());
            for (body, link) in own {
                of_body[body] = Some([passes.len(), links.len()]);
                links.push(LinkBody::new(response, link, &shared, first));
                first += 2;
            }
            let factor = response.factor.clone();
            passes.push(TreePass { at: tree.at(), factor, dofs: shared.len(), links });
        }
        Self { passes, of_body }
    }

    /// A row of a body that is a link with rows.
    pub(crate) fn side(&self, body: usize, jacobian: [Vector3<f64>; 2]) -> Option<Side> {
        let [pass, link] = self.of_body[body]?;
        let link = &self.passes[pass].links[link];
        let response = split(&(link.response * stacked(&jacobian)));
        Some(Side::Free { at: link.at, jacobian, response })
    }

    /// Appends the velocities of the links to those of all.
    pub(crate) fn extend(&self, v: &mut Vec<Vector3<f64>>) {
        let links: usize = self.passes.iter().map(|p| p.links.len()).sum();
        v.resize(v.len() + 2 * links, Vector3::zeros());
        self.passes.iter().for_each(|pass| pass.pull(v));
    }
}

impl LinkBody {
    fn new(response: &TreeResponse<'_>, link: usize, shared: &[f64], at: usize) -> Self {
        let tree = &response.at;
        let center = tree.centers[link];
        let column = |&k: &usize| (k, [tree.point_column(k, &center), tree.columns[k].angular]);
        let columns: Vec<_> = response.model.support(link).iter().map(column).collect();
        let mut halves: [Vec<f64>; 6] = std::array::from_fn(|_| vec![0.0; shared.len()]);
        for (i, half) in halves.iter_mut().enumerate() {
            for (k, [linear, angular]) in &columns {
                half[*k] = if i < 3 { linear[i] } else { angular[i - 3] };
            }
            response.factor.half_solve(half);
        }
        let mut mobility = Matrix6::zeros();
        for (k, _) in &columns {
            let y = Vector6::from_fn(|i, _| halves[i][*k]);
            mobility += y * y.transpose() * (shared[*k] / response.factor.pivot(*k));
        }
        Self { at, columns, response: mobility, pushed: [Vector3::zeros(); 2] }
    }
}

impl TreePass {
    /// Where the velocities of the tree stand.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Where those of its links stand.
    pub(crate) fn places(&self) -> impl Iterator<Item = usize> {
        self.links.iter().map(|l| l.at)
    }

    /// Shows where its velocities and those of its links stand, and how many vectors there are.
    pub(crate) fn each_place(&mut self, see: &mut impl FnMut(&mut usize, usize)) {
        see(&mut self.at, self.dofs.div_ceil(3));
        self.links.iter_mut().for_each(|link| see(&mut link.at, 2));
    }

    /// Sends what changed of the impulses on its links through the tree.
    ///
    /// * `wrenches`: all impulses and their moments, where the velocities of the links stand.
    pub(crate) fn push(&mut self, wrenches: &Velocities, v: &mut Velocities) {
        let mut efforts = vec![0.0; self.dofs];
        for link in &mut self.links {
            let all = [wrenches[link.at], wrenches[link.at + 1]];
            let [force, moment] = [all[0] - link.pushed[0], all[1] - link.pushed[1]];
            link.pushed = all;
            for (k, [linear, angular]) in &link.columns {
                efforts[*k] += linear.dot(&force) + angular.dot(&moment);
            }
        }
        self.factor.solve(&mut efforts);
        for (k, change) in efforts.into_iter().enumerate() {
            v[self.at + k / 3][k % 3] += change;
        }
    }

    /// Gives links the velocities that the tree has.
    pub(crate) fn pull(&self, v: &mut Velocities) {
        for link in &self.links {
            let mut moves = [Vector3::zeros(); 2];
            for (k, [linear, angular]) in &link.columns {
                let rate = v[self.at + k / 3][k % 3];
                moves[0] += linear * rate;
                moves[1] += angular * rate;
            }
            [v[link.at], v[link.at + 1]] = moves;
        }
    }
}

impl Rows {
    /// Adds `Jᵀ r` of all rows on free bodies and links \[N s, N m s\].
    ///
    /// * `place`: where a body stands whose velocities stand at an index.
    pub(crate) fn add_wrenches(
        &self,
        place: impl Fn(usize) -> usize,
        wrenches: &mut [Vector3<f64>],
    ) {
        let mut add = |row: &super::row::Row, impulse: f64| {
            for side in &row.sides {
                if let Side::Free { at, jacobian: [linear, angular], .. } = side {
                    let at = place(*at);
                    wrenches[at] += linear * impulse;
                    wrenches[at + 1] += angular * impulse;
                }
            }
        };
        self.normals.iter().for_each(|n| add(&n.row, n.impulse));
        for pair in &self.pairs {
            pair.rows.iter().zip(pair.impulse.iter()).for_each(|(row, r)| add(row, *r));
        }
        self.groups.iter().for_each(|g| g.angular.each(&mut add));
    }

    /// Sends the impulses that rows start from through the trees.
    pub(crate) fn start_passes(&mut self, v: &mut Velocities) {
        if self.passes.is_empty() {
            return;
        }
        let mut wrenches = vec![Vector3::zeros(); v.len()];
        self.add_wrenches(|at| at, &mut wrenches);
        for pass in &mut self.passes {
            pass.push(&wrenches, v);
            pass.pull(v);
        }
    }
}

fn stacked([linear, angular]: &[Vector3<f64>; 2]) -> Vector6<f64> {
    Vector6::new(linear.x, linear.y, linear.z, angular.x, angular.y, angular.z)
}

fn split(x: &Vector6<f64>) -> [Vector3<f64>; 2] {
    [Vector3::new(x[0], x[1], x[2]), Vector3::new(x[3], x[4], x[5])]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::articulated::test_models::{configuration, tree, values, vector};
    use crate::articulated::{Load, TreePoint};

    fn links(response: &TreeResponse<'_>, which: &[usize]) -> Vec<LinkBody> {
        let mut shared = vec![0.0; response.free.len()];
        for &link in which {
            response.model.support(link).iter().for_each(|&k| shared[k] += 1.0);
        }
        which.iter().map(|&link| LinkBody::new(response, link, &shared, 0)).collect()
    }

    /// `‖Σ J_iᵀ w_i‖²` by the whole matrix and by the split one.
    fn energies(response: &TreeResponse<'_>, which: &[usize], seed: usize) -> [f64; 2] {
        let bodies = links(response, which);
        let (mut efforts, mut split) = (vec![0.0; response.free.len()], 0.0);
        for (i, body) in bodies.iter().enumerate() {
            let wrench = [vector(seed + i), vector(seed + 31 + i)];
            for (k, [linear, angular]) in &body.columns {
                efforts[*k] += linear.dot(&wrench[0]) + angular.dot(&wrench[1]);
            }
            let x = stacked(&wrench);
            split += x.dot(&(body.response * x));
        }
        let mut moved = efforts.clone();
        response.factor.solve(&mut moved);
        [efforts.iter().zip(&moved).map(|(a, b)| a * b).sum(), split]
    }

    #[test]
    fn split_mobility_is_that_of_the_link_alone_and_never_less_than_that_of_all() {
        let model = tree();
        let (q, v) = (configuration(&model, 3), values(model.dofs(), 4));
        let load = Load::gravity(Vector3::z() * -9.81);
        let point = TreePoint { model: &model, q: &q, v: &v, load: &load };
        let response = TreeResponse::new(point, &values(model.dofs(), 5), 1e-3).unwrap();
        let all: Vec<usize> = (0..model.links().len()).collect();
        for seed in 0..50 {
            for &link in &all {
                let [whole, split] = energies(&response, &[link], seed);
                assert!((whole - split).abs() <= 1e-12 * whole, "link {link}: {whole} {split}");
            }
            let [whole, split] = energies(&response, &all, seed);
            assert!(whole <= split * (1.0 + 1e-12), "{whole} {split}");
            assert!(whole > 1e-3 * split, "a bound of the right size: {whole} {split}");
        }
    }

    #[test]
    fn impulses_on_links_reach_the_tree_and_links_get_its_velocities() {
        let model = tree();
        let (q, v) = (configuration(&model, 3), values(model.dofs(), 4));
        let load = Load::gravity(Vector3::z() * -9.81);
        let point = TreePoint { model: &model, q: &q, v: &v, load: &load };
        let response = TreeResponse::new(point, &values(model.dofs(), 5), 1e-3).unwrap();
        let (dofs, link) = (model.dofs(), model.links().len() - 1);
        let own = dofs.div_ceil(3);
        let mut bodies = links(&response, &[link]);
        bodies[0].at = own;
        let mut pass = TreePass { at: 0, factor: response.factor.clone(), dofs, links: bodies };
        let mut moving = super::super::tree::padded(&response.free);
        moving.resize(own + 2, Vector3::zeros());
        let (place, direction) = (response.at.centers[link] + vector(7), vector(8));
        let arm = place - response.at.centers[link];
        let mut wrenches = vec![Vector3::zeros(); own + 2];
        [wrenches[own], wrenches[own + 1]] = [direction, arm.cross(&direction)];
        pass.push(&wrenches, &mut moving);
        pass.pull(&mut moving);
        let row = response.row(response.jacobian(link, &place, &direction));
        let mut expected = response.free.clone();
        row.apply(1.0, &mut expected);
        for (k, x) in expected.iter().enumerate() {
            assert!((moving[k / 3][k % 3] - x).abs() < 1e-12);
        }
        let u = direction.dot(&(moving[own] + moving[own + 1].cross(&arm)));
        assert!((u - row.velocity(&expected)).abs() < 1e-12);
        // What has been sent is not sent again.
        let before = moving.clone();
        pass.push(&wrenches, &mut moving);
        assert_eq!(before, moving);
    }
}
