//! Names in files of the choices that other modules define.

use crate::impulse::{
    ArticulatedResponse, Coriolis, FrictionMode, FrictionPoint, Gyroscopic, SolveMode, Torsion,
};
use crate::{InitialRate, Method, OnFailure, RotationUpdate};
use osculate_contact::impulse::FrictionCombine;
use osculate_contact::impulse::patch::IsotropicFootprint;
use osculate_contact::{DissipationSchedule, FrictionRamp};
use osculate_geometry::grid::{Interpolation, ResolutionMode};
use osculate_geometry::quadrature::TriangleRule;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(remote = "Method", rename_all = "kebab-case")]
pub(super) enum MethodName {
    BackwardEuler,
    Bdf2,
    Bdf3,
    Dirk22,
    Dirk23,
    Dirk33,
    SymplecticDirk12,
    SymplecticDirk22,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "FrictionRamp", rename_all = "kebab-case")]
pub(super) enum RampName {
    C1,
    Smooth,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ResolutionMode", rename_all = "kebab-case")]
pub(super) enum ResolutionName {
    LargestAxis,
    SmallestAxis,
    MeanAxis,
    LargestEdge,
    SmallestEdge,
    MeanEdge,
    Explicit,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "FrictionMode", rename_all = "kebab-case")]
pub(super) enum FrictionModeName {
    FixedNormal,
    CoulombNewton,
    Bisection,
    BisectionDesaxce,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "SolveMode", rename_all = "kebab-case")]
pub(super) enum SolveModeName {
    Serial,
    Colored,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ArticulatedResponse", rename_all = "kebab-case")]
pub(super) enum ArticulatedResponseName {
    Immediate,
    Propagation,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "FrictionPoint", rename_all = "kebab-case")]
pub(super) enum FrictionPointName {
    Middle,
    Own,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "IsotropicFootprint", rename_all = "kebab-case")]
pub(super) enum FootprintName {
    Edges,
    Corners,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Torsion", rename_all = "kebab-case")]
pub(super) enum TorsionName {
    Linear,
    Ellipsoid,
    LimitSurface,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "FrictionCombine", rename_all = "kebab-case")]
pub(super) enum CombineName {
    Average,
    GeometricMean,
    Min,
    Multiply,
    Max,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Coriolis", rename_all = "kebab-case")]
pub(super) enum CoriolisName {
    Explicit,
    Conserving,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Gyroscopic", rename_all = "kebab-case")]
pub(super) enum GyroscopicName {
    Midpoint,
    Explicit,
    Off,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Interpolation", rename_all = "kebab-case")]
pub(super) enum InterpolationName {
    Trilinear,
    Tricubic,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "InitialRate", rename_all = "kebab-case")]
pub(super) enum RateName {
    Skew,
    FirstStep,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "RotationUpdate", rename_all = "kebab-case")]
pub(super) enum RotationName {
    RateTensor,
    Chart,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "OnFailure", rename_all = "kebab-case")]
pub(super) enum FailureName {
    Stop,
    Continue,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "DissipationSchedule", rename_all = "kebab-case")]
enum ScheduleName {
    StageStart,
    CurrentGeometry,
    Current,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "TriangleRule")]
enum RuleName {
    P1Q1,
    P1Q3,
    P1Q6,
    P1Q7,
    P1Q12,
    P1Q16,
}

/// An optional value of a type that another crate defines: serde's `with` knows no `Option`.
macro_rules! optional {
    ($module:ident, $type:ty, $name:ty) => {
        pub(super) mod $module {
            use super::*;
            use serde::{Deserializer, Serializer};

            pub(crate) fn serialize<S: Serializer>(
                value: &Option<$type>,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                match value {
                    Some(value) => <$name>::serialize(value, serializer),
                    None => serializer.serialize_none(),
                }
            }

            pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Option<$type>, D::Error> {
                <$name>::deserialize(deserializer).map(Some)
            }
        }
    };
}

optional!(combine, FrictionCombine, CombineName);
optional!(schedule, DissipationSchedule, ScheduleName);
optional!(rule, TriangleRule, RuleName);
