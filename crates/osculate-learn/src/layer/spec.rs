//! What goes into a layer and what comes out.

use std::ops::Range;

/// Numbers of a state: position, rotation row by row, velocity, angular velocity.
pub const STATE: usize = 18;
/// Numbers of a wrench: force, torque.
pub const WRENCH: usize = 6;
/// Numbers of a force.
pub const FORCE: usize = 3;

/// What goes in, columns in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// Initial state of a free body, 18 numbers: position of its origin \[m\], rotation matrix row by row, velocity of its
    /// centre of mass \[m/s\], angular velocity \[rad/s\]; world axes. As [`Output::State`], so roll-outs can be chained.
    ///
    /// The nine numbers must be a rotation to 1e-9. Their derivative is that along rotations, `R̄ = ½ [g]× R` for a
    /// derivative `g` by a turn about the world axes: it has no part that leaves them.
    State {
        /// Name of the body.
        body: String,
    },
    /// Force \[N\] at the centre of mass and torque \[N m\], 6 numbers, world axes, constant over steps and added to what the
    /// scene applies.
    Wrench {
        /// Name of the body.
        body: String,
        /// Steps that it acts in, counted from 0.
        steps: Range<usize>,
    },
    /// One number of the scene, by its path (`pair.cube.ground.mu`, `cube.velocity_x`); replaces the scene's value.
    Parameter {
        /// Its path.
        path: String,
    },
}

/// What comes out, columns in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// State of a body after some steps, 18 numbers as [`Input::State`].
    State {
        /// Name of the body.
        body: String,
        /// After how many steps; 0 is the start.
        step: usize,
    },
    /// Mean force \[N\] of all contacts on a free body in a step, 3 numbers, world axes: what its momentum changes by, less
    /// gravity and the applied force, `m (v_k − v_{k−1})/Δt_k − m g − f_k`.
    ContactForce {
        /// Name of the body.
        body: String,
        /// Which step, counted from 1: the one that ends in state `step`.
        step: usize,
    },
}

impl Input {
    /// Initial state of a body.
    pub fn state(body: impl Into<String>) -> Self {
        Self::State { body: body.into() }
    }

    /// Wrench on a body over steps.
    pub fn wrench(body: impl Into<String>, steps: Range<usize>) -> Self {
        Self::Wrench { body: body.into(), steps }
    }

    /// A number of the scene.
    pub fn parameter(path: impl Into<String>) -> Self {
        Self::Parameter { path: path.into() }
    }

    /// How many columns it has.
    pub fn columns(&self) -> usize {
        match self {
            Self::State { .. } => STATE,
            Self::Wrench { .. } => WRENCH,
            Self::Parameter { .. } => 1,
        }
    }
}

impl Output {
    /// State of a body after some steps.
    pub fn state(body: impl Into<String>, step: usize) -> Self {
        Self::State { body: body.into(), step }
    }

    /// Mean contact force on a body in a step.
    pub fn contact_force(body: impl Into<String>, step: usize) -> Self {
        Self::ContactForce { body: body.into(), step }
    }

    /// How many columns it has.
    pub fn columns(&self) -> usize {
        match self {
            Self::State { .. } => STATE,
            Self::ContactForce { .. } => FORCE,
        }
    }
}

/// Inputs and outputs of a layer.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct LayerSpec {
    /// What goes in.
    pub inputs: Vec<Input>,
    /// What comes out.
    pub outputs: Vec<Output>,
}

impl LayerSpec {
    /// Columns of a batch that goes in.
    pub fn input_columns(&self) -> usize {
        self.inputs.iter().map(Input::columns).sum()
    }

    /// Columns of a batch that comes out.
    pub fn output_columns(&self) -> usize {
        self.outputs.iter().map(Output::columns).sum()
    }
}
