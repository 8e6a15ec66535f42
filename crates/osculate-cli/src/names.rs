//! Names on the command line and in files of methods and schedules.

use osculate_contact::DissipationSchedule;
use osculate_dynamics::Method;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// Name of a method, as in scene files.
pub(crate) fn of_method(method: Method) -> &'static str {
    match method {
        Method::BackwardEuler => "backward-euler",
        Method::Bdf2 => "bdf2",
        Method::Bdf3 => "bdf3",
        Method::Dirk22 => "dirk22",
        Method::Dirk23 => "dirk23",
        Method::Dirk33 => "dirk33",
        Method::SymplecticDirk12 => "symplectic-dirk12",
        Method::SymplecticDirk22 => "symplectic-dirk22",
    }
}

/// Name of a schedule, as in scene files.
pub(crate) fn of_schedule(schedule: DissipationSchedule) -> &'static str {
    match schedule {
        DissipationSchedule::StageStart => "stage-start",
        DissipationSchedule::CurrentGeometry => "current-geometry",
        DissipationSchedule::Current => "current",
    }
}

/// The method of a name.
pub(crate) fn method(name: &str) -> Result<Method, String> {
    pick(Method::ALL, of_method, name)
}

/// The schedule of a name.
pub(crate) fn schedule(name: &str) -> Result<DissipationSchedule, String> {
    pick(DissipationSchedule::ALL, of_schedule, name)
}

/// The method of a name in a file.
pub(crate) fn read_method<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Method, D::Error> {
    let name = String::deserialize(deserializer)?;
    method(&name).map_err(|allowed| D::Error::custom(format!("no method '{name}', {allowed}")))
}

fn pick<X: Copy, const N: usize>(
    all: [X; N],
    of: impl Fn(X) -> &'static str,
    name: &str,
) -> Result<X, String> {
    let known = all.map(&of).join(", ");
    all.into_iter().find(|x| of(*x) == name).ok_or_else(|| format!("allowed: {known}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back_and_others_are_refused_with_the_list() {
        for m in Method::ALL {
            assert_eq!(method(of_method(m)), Ok(m));
        }
        for s in DissipationSchedule::ALL {
            assert_eq!(schedule(of_schedule(s)), Ok(s));
        }
        assert!(method("euler").unwrap_err().contains("backward-euler, bdf2"));
    }
}
