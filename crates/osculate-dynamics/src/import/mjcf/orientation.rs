//! Where things are: `pos`, and one of `quat`, `axisangle`, `euler`, `xyaxes`, `zaxis`.

use super::super::error::{ImportError, Problem};
use super::super::fields::{Fields, unit};
use super::compiler::Compiler;
use super::defaults::Resolved;
use nalgebra::{Matrix3, Vector3};
use osculate_math::se3::Pose;
use osculate_math::so3;

const FORMS: [&str; 5] = ["quat", "axisangle", "euler", "xyaxes", "zaxis"];

/// Rotation by `angle` about a coordinate axis.
fn about(axis: usize, angle: f64) -> Matrix3<f64> {
    let mut v = Vector3::zeros();
    v[axis] = angle;
    so3::exp(&v)
}

/// Position and orientation; the origin where nothing is given.
pub(super) fn pose(e: &Resolved<'_>, compiler: &Compiler<'_>) -> Result<Pose, ImportError> {
    let position = e.vector("pos")?.unwrap_or_else(Vector3::zeros);
    Ok(Pose { position, rotation: rotation(e, compiler)? })
}

fn rotation(e: &Resolved<'_>, compiler: &Compiler<'_>) -> Result<Matrix3<f64>, ImportError> {
    let given = e.nearest(&FORMS);
    if given.len() > 1 {
        let what = format!("the orientation (by {})", given.join(" and "));
        return Err(e.element().error(Problem::Twice { what, first: e.element().line() }));
    }
    let Some(form) = given.first() else { return Ok(Matrix3::identity()) };
    let length = match *form {
        "quat" | "axisangle" => 4,
        "xyaxes" => 6,
        _ => 3,
    };
    let x = e.list(
        form,
        (length, length),
        "3 (euler, zaxis), 4 (quat, axisangle) or 6 (xyaxes) finite numbers",
    )?;
    let x = x.unwrap_or_default();
    let axis = |from: usize| {
        let v = Vector3::new(x[from], x[from + 1], x[from + 2]);
        unit(&v).ok_or_else(|| e.refused(form, "an axis that is not zero"))
    };
    match *form {
        "quat" => quaternion([x[0], x[1], x[2], x[3]])
            .ok_or_else(|| e.refused("quat", "four numbers, not all zero")),
        "axisangle" => Ok(so3::exp(&(axis(0)? * compiler.angle(x[3])))),
        "euler" => {
            let turns = compiler.euler.iter().zip(&x);
            Ok(turns.fold(Matrix3::identity(), |r, (turn, &angle)| {
                let next = about(turn.axis, compiler.angle(angle));
                if turn.moving { r * next } else { next * r }
            }))
        }
        "xyaxes" => {
            let (along, across) = (axis(0)?, axis(3)?);
            let across = across - along * along.dot(&across);
            let across = unit(&across).filter(|_| across.norm() > 1e-10);
            let across = across.ok_or_else(|| e.refused("xyaxes", "two axes, not parallel"))?;
            Ok(Matrix3::from_columns(&[along, across, along.cross(&across)]))
        }
        _ => Ok(z_to(&axis(0)?)),
    }
}

/// Rotation of a quaternion `w, x, y, z` of any length but zero.
pub(super) fn quaternion(q: [f64; 4]) -> Option<Matrix3<f64>> {
    let largest = q.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    if largest <= 0.0 {
        return None;
    }
    let q = q.map(|x| x / largest);
    let norm = q.iter().map(|x| x * x).sum::<f64>().sqrt();
    Some(so3::from_quaternion(q.map(|x| x / norm)))
}

/// The least rotation that takes z to a unit vector; about x where it is −z.
pub(super) fn z_to(v: &Vector3<f64>) -> Matrix3<f64> {
    let cross = Vector3::z().cross(v);
    let sine = cross.norm();
    let axis = if sine < 1e-12 { Vector3::x() } else { cross / sine };
    so3::exp(&(axis * sine.atan2(v.z)))
}
