//! From constraints of a file to residuals that count only where they are broken.

use super::file::{ConstraintFile, ConstraintKind};
use super::measure::Measure;
use super::rows::{Row, Term};
use super::terms::{Terms, when};
use crate::experiment::{ExperimentError, Refuse};
use nalgebra::Vector3;

impl Terms<'_> {
    pub(super) fn constraint(
        &mut self,
        at: &str,
        c: &ConstraintFile,
    ) -> Result<(), ExperimentError> {
        let body = self.body(&format!("{at}.actor"), &c.actor)?;
        let (states, running) = self.states(at, c.step, (c.steps, c.times))?;
        let axes = self.axes(at, c.axes.as_deref())?;
        self.check.positive(&format!("{at}.scale"), c.scale)?;
        let within = c.within.unwrap_or(c.scale);
        self.check.positive(&format!("{at}.within"), within)?;
        self.only_own(at, c)?;
        let (what, rows) = match c.kind {
            ConstraintKind::Inside => ("inside", self.inside((at, c), body, &states, &axes)?),
            ConstraintKind::KeepOut => ("keep out", self.keep_out((at, c), body, &states, &axes)?),
        };
        let first = self.rows.len();
        self.rows.extend(rows);
        self.terms.push(Term {
            name: format!("{what}, {}{}", c.actor, when(&states, running, self.steps())),
            rows: first..self.rows.len(),
            group: 1,
            unit_error: c.scale,
            unit: "m",
            within: Some(within),
        });
        Ok(())
    }

    /// Fields that the kind does not read are refused: they would be passed over.
    fn only_own(&self, at: &str, c: &ConstraintFile) -> Result<(), ExperimentError> {
        let inside = c.kind == ConstraintKind::Inside;
        for (field, given, own) in [
            ("low", c.low.is_some(), inside),
            ("high", c.high.is_some(), inside),
            ("center", c.center.is_some(), !inside),
            ("radius", c.radius.is_some(), !inside),
        ] {
            if given && !own {
                let allowed = format!("absent beside this kind, {:?}", c.kind);
                return self.check.refuse(&format!("{at}.{field}"), field, allowed);
            }
        }
        Ok(())
    }

    /// `z = ±(p − limit)/scale` on each side that is given.
    fn inside(
        &self,
        (at, c): (&str, &ConstraintFile),
        body: usize,
        states: &[usize],
        axes: &[usize],
    ) -> Result<Vec<Row>, ExperimentError> {
        let sides = [(c.low, -1.0), (c.high, 1.0)];
        let given = || sides.iter().filter_map(|(limit, sign)| Some(((*limit)?, *sign)));
        if given().next().is_none() {
            return self.check.refuse(at, "neither low nor high", "at least one of them");
        }
        let mut rows = Vec::new();
        for &step in states {
            for (limit, sign) in given() {
                rows.extend(axes.iter().map(|&axis| Row {
                    constant: -sign * limit[axis] / c.scale,
                    parts: vec![(step, sign / c.scale, Measure::Position(body, axis))],
                    inequality: true,
                    ..Row::default()
                }));
            }
        }
        Ok(rows)
    }

    /// `z = (radius − distance)/scale`.
    fn keep_out(
        &self,
        (at, c): (&str, &ConstraintFile),
        body: usize,
        states: &[usize],
        axes: &[usize],
    ) -> Result<Vec<Row>, ExperimentError> {
        let (Some(center), Some(radius)) = (c.center, c.radius) else {
            return self.check.refuse(at, "keep-out without center or radius", "both");
        };
        self.check.positive(&format!("{at}.radius"), radius)?;
        let mask = std::array::from_fn(|i| axes.contains(&i));
        let measure = || Measure::Distance(body, Vector3::from(center), mask);
        let row = |step: &usize| Row {
            constant: radius / c.scale,
            parts: vec![(*step, -1.0 / c.scale, measure())],
            inequality: true,
            ..Row::default()
        };
        Ok(states.iter().map(row).collect())
    }
}
