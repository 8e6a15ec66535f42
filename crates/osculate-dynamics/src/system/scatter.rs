//! From the forces of a pair to rows of the residual and blocks of the matrix, in world axes.

use super::{Pair, Part, Stage};
use crate::linalg::BlockMatrix;
use crate::linalg::blocks::{BLOCK, Block};
use nalgebra::{Matrix3, Vector3};
use osculate_contact::assembly::{Blocks, NearForces, Wrenches};
use osculate_math::{Scalar, mat3};

/// Subtracts contact forces from the residual, in world axes.
pub(super) fn scatter<T: Scalar>(
    part: &Part<'_, T>,
    pair: &Pair<T>,
    stage: &Stage<'_, T>,
    w: &Wrenches<T>,
    r: &mut [T],
) {
    let rotation = stage.now[pair.slots[1]].rotation;
    let mut put = |slot: usize, force: Vector3<T>, torque: Vector3<T>| {
        if let Some(at) = part.unknown[slot] {
            for k in 0..3 {
                r[at + k] += force[k];
                r[at + 3 + k] += torque[k];
            }
        }
    };
    let force = mat3::apply(&rotation, &w.force);
    put(pair.slots[0], -force, -mat3::apply(&rotation, &w.torque_a));
    put(pair.slots[1], force, mat3::apply(&rotation, &w.torque_b));
}

/// Adds the Jacobian of a pair from its blocks in collider axes.
pub(super) fn scatter_blocks<T: Scalar>(
    part: &Part<'_, T>,
    pair: &Pair<T>,
    stage: &Stage<'_, T>,
    blocks: &Blocks<T>,
    k: &mut BlockMatrix<T>,
) {
    let rotation = stage.now[pair.slots[1]].rotation;
    let node = pair.slots.map(|slot| part.unknown[slot].map(|x| x / BLOCK));
    for (side, own) in node.into_iter().enumerate() {
        let Some(own) = own else { continue };
        add_quarters(&mut k.diagonal[own], blocks, &rotation, (side, side));
    }
    if let (Some(edge), [Some(a), Some(b)]) = (pair.edge, node) {
        let [upper, lower] = k.edge(edge as usize);
        let (ab, ba) = if a < b { (upper, lower) } else { (lower, upper) };
        add_quarters(ab, blocks, &rotation, (0, 1));
        add_quarters(ba, blocks, &rotation, (1, 0));
    }
}

/// Adds the four 3×3 blocks of row body and column body, turned to the world.
fn add_quarters<T: Scalar>(
    to: &mut Block<T>,
    blocks: &Blocks<T>,
    rotation: &Matrix3<T>,
    (row, column): (usize, usize),
) {
    for i in 0..2 {
        for j in 0..2 {
            let block = &blocks.0[2 * row + i][2 * column + j];
            let world = mat3::mul_transposed(&mat3::mul(rotation, block), rotation);
            for m in 0..3 {
                for n in 0..3 {
                    to[(3 * i + m) * BLOCK + 3 * j + n] += world[(m, n)];
                }
            }
        }
    }
}

/// Adds the Jacobian of a pair, from the sums of a list.
pub(super) fn scatter_near(
    part: &Part<'_, f64>,
    pair: &Pair<f64>,
    stage: &Stage<'_, f64>,
    found: &NearForces,
    k: &mut BlockMatrix<f64>,
) {
    let [a, b] = pair.slots.map(|slot| &stage.now[slot]);
    let node = pair.slots.map(|slot| part.unknown[slot].map(|x| x / BLOCK));
    found.for_each_block((&b.rotation, &(a.center - b.center)), pair.moving, |row, column, m| {
        let [side, other] = [row / 2, column / 2];
        let block = match (node[side], node[other], pair.edge) {
            (Some(own), Some(_), _) if side == other => &mut k.diagonal[own],
            (Some(own), Some(other), Some(edge)) => {
                &mut k.edge(edge as usize)[usize::from(own > other)]
            }
            _ => return,
        };
        let (row, column) = (3 * (row % 2), 3 * (column % 2));
        for i in 0..3 {
            for j in 0..3 {
                block[(row + i) * BLOCK + column + j] += m[(i, j)];
            }
        }
    });
}
