//! Roll-outs as layers of burn: contact inside networks.
//!
//! ```text
//! y = f(u)              u: initial states, wrenches, parameters    y: states, contact forces
//! ū = (∂f/∂u)ᵀ ȳ        one adjoint a roll-out, in f64; rows of a batch in parallel
//! ```
//!
//! [`experiment`] has three questions that need it; [`Rollout`] is the layer, [`LayerSpec`] says what goes in and what comes out.
//!
//! ```
//! use osculate_dynamics::file::SceneFile;
//! use osculate_learn::{Input, LayerSpec, Output, Rollout, device, numbers, tensor};
//!
//! let scene = SceneFile::load("../../docs/examples/sliding_block.toml")?;
//! let last = scene.simulator.steps();
//! let layer = Rollout::new(&scene, LayerSpec {
//!     inputs: vec![Input::parameter("block.mu"), Input::parameter("block.velocity_x")],
//!     outputs: vec![Output::state("block", last)],
//! })?;
//! let device = device()?;
//! // Two roll-outs: friction and speed.
//! let inputs = tensor(vec![0.2, 1.0, 0.3, 1.2], [2, 2], &device).require_grad();
//! let states = layer.forward(inputs.clone())?;
//! let gradients = states.slice([0..2, 0..1]).sum().backward();
//! let by = inputs.grad(&gradients).ok_or("no gradient")?;
//! assert!(numbers(&by)?[0] < 0.0, "more friction, shorter way");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
pub mod experiment;
mod layer;
mod network;
mod operation;

pub use error::LearnError;
pub use layer::{FORCE, Input, LayerSpec, Output, RolledOut, Rollout, STATE, WRENCH};
pub use network::Network;
pub use operation::{device, numbers, tensor};
