//! Numbers of the joint laws: friction, limits and drive. The laws themselves are in `joint_force`.

use osculate_math::Scalar;

/// Friction of a joint, on the norm of its velocity.
///
/// Units are those of a rotation; a translation has N for N m and m for rad.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointFriction<T = f64> {
    /// Viscous coefficient \[N m s/rad\], ≥ 0.
    pub viscous: T,
    /// Coulomb torque while moving \[N m\], ≥ 0.
    pub coulomb: T,
    /// What stiction adds to the Coulomb torque up to the falloff speed (Stribeck) \[N m\], ≥ 0.
    pub stiction_extra: T,
    /// Speed on which the extra torque fades beyond the falloff speed \[rad/s\], > 0.
    pub stribeck_speed: T,
    /// Speed below which Coulomb friction is regularised \[rad/s\], > 0.
    pub falloff_speed: T,
}

impl<T: Scalar> Default for JointFriction<T> {
    /// None; falloff speed 10⁻³ rad/s, Stribeck speed 0.1 rad/s.
    fn default() -> Self {
        Self {
            viscous: T::zero(),
            coulomb: T::zero(),
            stiction_extra: T::zero(),
            stribeck_speed: T::from(0.1),
            falloff_speed: T::from(1e-3),
        }
    }
}

impl<T: Scalar> JointFriction<T> {
    /// Whether there is any.
    pub fn acts(&self) -> bool {
        [self.viscous, self.coulomb, self.stiction_extra].iter().any(|x| x.re() > 0.0)
    }
}

/// Soft limits of a joint with one coordinate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointLimits<T = f64> {
    /// Least coordinate \[rad or m\]; −∞ for none.
    pub lower: T,
    /// Largest coordinate \[rad or m\]; ∞ for none.
    pub upper: T,
    /// Stiffness beyond a limit \[N m/rad or N/m\], > 0.
    pub stiffness: T,
    /// Damping beyond a limit \[N m s/rad or N s/m\], ≥ 0.
    pub damping: T,
}

impl<T: Scalar> JointLimits<T> {
    /// Limits with stiffness 100 and no damping.
    pub fn new(lower: T, upper: T) -> Self {
        Self { lower, upper, stiffness: T::from(100.0), damping: T::zero() }
    }
}

/// Drive of a joint with one coordinate: `effort + k_p (target − q) + k_d (target velocity − v)`, held within
/// ± `effort_limit`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointDrive<T = f64> {
    /// Feed-forward torque \[N m or N\].
    pub effort: T,
    /// `k_p` \[N m/rad or N/m\], ≥ 0.
    pub stiffness: T,
    /// `k_d` \[N m s/rad or N s/m\], ≥ 0.
    pub damping: T,
    /// Target coordinate \[rad or m\].
    pub target: T,
    /// Target velocity \[rad/s or m/s\].
    pub target_velocity: T,
    /// Largest torque \[N m or N\], > 0; `None` for no limit.
    pub effort_limit: Option<T>,
}

impl<T: Scalar> Default for JointDrive<T> {
    /// A drive that does nothing.
    fn default() -> Self {
        let o = T::zero();
        Self {
            effort: o,
            stiffness: o,
            damping: o,
            target: o,
            target_velocity: o,
            effort_limit: None,
        }
    }
}

/// Everything that acts inside a joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointLaws<T = f64> {
    /// Friction.
    pub friction: JointFriction<T>,
    /// Limits, of a revolute or prismatic joint.
    pub limits: Option<JointLimits<T>>,
    /// Drive, of a revolute or prismatic joint.
    pub drive: Option<JointDrive<T>>,
}

impl<T: Scalar> Default for JointLaws<T> {
    /// No friction, no limits, no drive.
    fn default() -> Self {
        Self { friction: JointFriction::default(), limits: None, drive: None }
    }
}

impl<T: Scalar> JointLaws<T> {
    /// The same laws in another scalar.
    pub fn map<U: Scalar>(&self, f: &impl Fn(T) -> U) -> JointLaws<U> {
        let friction = JointFriction {
            viscous: f(self.friction.viscous),
            coulomb: f(self.friction.coulomb),
            stiction_extra: f(self.friction.stiction_extra),
            stribeck_speed: f(self.friction.stribeck_speed),
            falloff_speed: f(self.friction.falloff_speed),
        };
        let limits = self.limits.map(|l| JointLimits {
            lower: f(l.lower),
            upper: f(l.upper),
            stiffness: f(l.stiffness),
            damping: f(l.damping),
        });
        let drive = self.drive.map(|d| JointDrive {
            effort: f(d.effort),
            stiffness: f(d.stiffness),
            damping: f(d.damping),
            target: f(d.target),
            target_velocity: f(d.target_velocity),
            effort_limit: d.effort_limit.map(f),
        });
        JointLaws { friction, limits, drive }
    }
}
