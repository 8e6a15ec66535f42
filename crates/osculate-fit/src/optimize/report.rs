//! The result of an optimisation: one JSON document and one page of text.

use super::baselines::Baseline;
use super::file::OptimizeFile;
use super::run::{Search, StartResult};
use super::task::Task;
use crate::contact_model::ContactModel;
use crate::report::number;
use crate::trust::Judged;
use serde::Serialize;

/// One variable at the best point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Value {
    /// Path of the parameter.
    pub path: String,
    /// Its unit.
    pub unit: String,
    /// Its value.
    pub value: f64,
}

/// One control at the best point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ControlValues {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// First step that it acts in.
    pub first_step: usize,
    /// Numbers of its spline.
    pub knots: Vec<f64>,
    /// Value in each step.
    pub values: Vec<f64>,
}

/// One objective or constraint at the best point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TermError {
    /// What it is about.
    pub name: String,
    /// The largest error.
    pub error: f64,
    /// Its unit.
    pub unit: String,
    /// What is allowed where the goal is reached.
    pub within: Option<f64>,
}

/// Everything an optimisation found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Version of osculate.
    pub version: String,
    /// Where the experiment was read.
    pub experiment: String,
    /// How many decision variables there are.
    pub variables: usize,
    /// How many residuals.
    pub residuals: usize,
    /// Seed of the starts.
    pub seed: u64,
    /// Cost of the best start.
    pub cost: f64,
    /// How many starts reached the goal.
    pub reached: usize,
    /// The best start.
    pub best_start: usize,
    /// Its parameters.
    pub parameters: Vec<Value>,
    /// Its controls.
    pub controls: Vec<ControlValues>,
    /// Its errors.
    pub terms: Vec<TermError>,
    /// Every start.
    pub starts: Vec<StartResult>,
    /// The same starts by other methods, where asked.
    pub baselines: Vec<Baseline>,
    /// What derivatives are good for at the best point.
    pub trust: Vec<Judged>,
    /// Whether the search was stopped before its end.
    pub interrupted: bool,
}

impl Report {
    /// From what was found.
    pub fn new<M: ContactModel>(
        (experiment, file, task): (String, &OptimizeFile, &Task<M>),
        search: &Search,
        baselines: Vec<Baseline>,
        trust: Vec<Judged>,
    ) -> Self {
        let (best, v) = (search.best(), &task.variables);
        let entries = &task.entries;
        let in_control = |j: usize| v.controls.iter().any(|c| c.variables.contains(&j));
        let unit = |j: usize| {
            let moved = v.moved.iter().find(|m| m.terms.iter().any(|t| t.0 == j));
            moved.map_or("", |m| entries[m.index].unit)
        };
        let parameters = (0..v.len()).filter(|j| !in_control(*j)).map(|j| Value {
            path: v.free[j].path.clone(),
            unit: unit(j).into(),
            value: best.values[j],
        });
        let controls = v.controls.iter().map(|c| ControlValues {
            name: c.name.clone(),
            unit: c.unit.into(),
            first_step: c.steps.start,
            knots: best.values[c.variables.clone()].to_vec(),
            values: v.moved[c.moved.clone()]
                .iter()
                .map(|m| m.terms.iter().map(|(j, w)| w * best.values[*j]).sum())
                .collect(),
        });
        let terms = task.rows.terms.iter().zip(&best.errors).map(|(t, error)| TermError {
            name: t.name.clone(),
            error: *error,
            unit: t.unit.into(),
            within: t.within,
        });
        Self {
            version: env!("CARGO_PKG_VERSION").into(),
            experiment,
            variables: v.len(),
            residuals: task.rows.rows.len(),
            seed: file.multistart.seed,
            cost: best.cost,
            reached: search.starts.iter().filter(|s| s.reached).count(),
            best_start: search.best,
            parameters: parameters.collect(),
            controls: controls.collect(),
            terms: terms.collect(),
            starts: search.starts.clone(),
            baselines,
            trust,
            interrupted: search.interrupted,
        }
    }

    /// One page of text.
    pub fn summary(&self) -> String {
        let mut text = format!(
            "{} variables, {} residuals, {} starts (seed {}): {} reach the goal\n",
            self.variables,
            self.residuals,
            self.starts.len(),
            self.seed,
            self.reached
        );
        if self.interrupted {
            text += "interrupted: the best point so far\n";
        }
        text += &format!("\nbest: start {}, cost {}\n", self.best_start + 1, number(self.cost));
        for p in &self.parameters {
            text += &format!("  {} = {} {}\n", p.path, number(p.value), p.unit);
        }
        for c in &self.controls {
            let low = c.values.iter().copied().fold(f64::INFINITY, f64::min);
            let high = c.values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let (low, high, unit) = (number(low), number(high), &c.unit);
            text += &format!("  {}: {low} to {high} {unit}, {} knots\n", c.name, c.knots.len());
        }
        text += "errors\n";
        for t in &self.terms {
            let allowed = t.within.map_or_else(String::new, |w| {
                format!(
                    ", allowed {} {}",
                    number(w),
                    if t.error <= w { "(met)" } else { "(NOT met)" }
                )
            });
            text += &format!("  {}: {} {}{allowed}\n", t.name, number(t.error), t.unit);
        }
        text += &self.of_starts();
        if !self.trust.is_empty() {
            text += "\nderivatives at the best point, along their own change (docs/trust.md)\n";
            for judged in &self.trust {
                text += &format!("  {}\n", judged.sentence());
            }
        }
        text
    }

    /// Every start, and the same by other methods.
    fn of_starts(&self) -> String {
        let mut text = String::from(
            "\nstarts (* best): cost, largest error over what is allowed, spent (to the goal)\n",
        );
        for (i, s) in self.starts.iter().enumerate() {
            let mark = if i == self.best_start { '*' } else { ' ' };
            text += &format!("{mark} {:2}  {}\n", i + 1, line(s));
        }
        for b in &self.baselines {
            text += &format!(
                "\n{} from the same starts, to the goal or the end of the budget\n",
                b.method
            );
            for (i, s) in b.starts.iter().enumerate() {
                text += &format!("  {:2}  {}\n", i + 1, line(s));
            }
        }
        if !self.baselines.is_empty() {
            text += &self.comparison();
        }
        text
    }

    /// Medians over the starts that reach the goal.
    fn comparison(&self) -> String {
        let mut text = "\nto the goal, medians of the starts that reach it\n".to_owned();
        let own = [("exact derivatives", &self.starts)];
        let others = self.baselines.iter().map(|b| (b.method, &b.starts));
        for (method, starts) in own.into_iter().chain(others) {
            let goals: Vec<_> = starts.iter().filter_map(|s| s.to_goal).collect();
            let median = |f: &dyn Fn(usize) -> f64| {
                let mut all: Vec<f64> = (0..goals.len()).map(f).collect();
                all.sort_by(f64::total_cmp);
                all.get(all.len() / 2).map_or_else(|| "-".into(), |x| number(*x))
            };
            text += &format!(
                "  {method}: {} of {} starts, {} roll-outs, {} adjoints, {} tangents, {} CPU s\n",
                goals.len(),
                starts.len(),
                median(&|i| goals[i].rollouts as f64),
                median(&|i| goals[i].adjoints as f64),
                median(&|i| goals[i].tangents as f64),
                median(&|i| goals[i].cpu_s),
            );
        }
        text
    }
}

fn line(s: &StartResult) -> String {
    if let Some(failure) = &s.failure {
        return format!("failed: {failure}");
    }
    let goal = s.to_goal.map_or_else(
        || "goal not reached".into(),
        |g| format!("goal after {} roll-outs, {} CPU s", g.rollouts, number(g.cpu_s)),
    );
    let stop = s.stages.last().map_or_else(String::new, |l| {
        format!(", {} iterations, {}", l.iterations, format!("{:?}", l.stop).to_lowercase())
    });
    format!(
        "{}  {}  {} roll-outs, {} adjoints, {} tangents, {} CPU s ({goal}){stop}",
        number(s.cost),
        number(s.worst),
        s.spent.rollouts,
        s.spent.adjoints,
        s.spent.tangents,
        number(s.spent.cpu_s)
    )
}
