//! How rotations are integrated.

/// How the rotation of a body is carried through the stages of a method.
///
/// Both agree as Δt → 0. Translation has the order of the method with either.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum RotationUpdate {
    /// The rate `W = Ṙ Rᵀ = skew(ω) + S` as velocity state, `r_θ = −axial(R J R̃ᵀ)/Δt²` (the model's): the gradient of an
    /// incremental potential. Rotations are of first order in Δt with every method.
    #[default]
    RateTensor,
    /// The angular momentum `L = R I Rᵀ ω` as velocity state, and rotations as vectors `θ = log(R R_bᵀ)` in the chart about the
    /// rotation `R_b` at the start of the step:
    ///
    /// ```text
    /// θ̇ = Jl(θ)⁻¹ ω,   L̇ = τ        ω = (R I Rᵀ)⁻¹ L
    /// stage:   ω_i = Jl(θ_i)(θ_i − θ⁰_i)/Δt_i,   r_θ = (R_i I R_iᵀ ω_i − L⁰_i)/Δt_i − τ
    /// ```
    ///
    /// θ and L are combined linearly, as any method combines the unknowns of a differential equation, so rotations have the
    /// order of the method. Contacts see the velocities at the end of the stage, not differences of positions, but for
    /// [`DissipationSchedule::StageStart`](osculate_contact::DissipationSchedule::StageStart). There is no incremental potential.
    /// A body has to turn by less than half a turn over the states that a step combines.
    Chart,
}

impl RotationUpdate {
    /// Both, for tests and tables.
    pub const ALL: [Self; 2] = [Self::RateTensor, Self::Chart];
}
