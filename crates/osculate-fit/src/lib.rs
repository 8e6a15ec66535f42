//! Identification of contact parameters from measured motion.
//!
//! * [`recording`]: measured tosses on disk, the public cube recordings, and the errors a simulation makes on them.
//! * [`parameter`]: what is free, and on which scale.
//! * [`nuisance`], [`own`]: what differs from one recording to the next, and its estimate with all else held.
//! * [`contact_model`]: one trait over the two contact models.
//! * [`robust`]: losses in which large residuals count less.
//! * [`problem`]: residuals of roll-outs against measured poses and channels, with exact Jacobians.
//! * [`least_squares`], [`optimise`]: bounded Levenberg–Marquardt; argmin's L-BFGS and Nelder–Mead; CMA-ES.
//! * [`evolve`]: search by values alone.
//! * [`compare`]: loss against evaluations and processor time of every solver on one problem.
//! * [`surface`]: the minimum of a rough loss, by quadratics fitted to designs.
//! * [`fit`]: many starts through stages of growing horizon.
//! * [`identify`]: standard errors, correlations, weak directions, profiles, verdicts.
//! * [`certificate`]: whether the dissipative residual is the gradient of `Δt R`, measured.
//! * [`trust`]: whether a gradient is good for anything, with reasons.
//! * [`baselines`]: simple predictions that a simulation has to beat.
//! * [`design`]: which experiment would tell most.
//! * [`experiment`], [`report`], [`twin`]: files in, files out, synthetic recordings.
//! * [`optimize`]: trajectories that do what is wanted.
//! * [`json`]: JSON files, with errors that name the field.
//! * [`impact`]: the restitution that an integrator shows, and the step that keeps it.

pub mod baselines;
pub mod certificate;
mod clock;
pub mod compare;
pub mod contact_model;
pub mod design;
pub mod evolve;
pub mod experiment;
pub mod fit;
pub mod identify;
pub mod impact;
pub mod json;
pub mod least_squares;
mod noise;
pub mod nuisance;
pub mod optimise;
pub mod optimize;
pub mod own;
pub mod parameter;
pub mod problem;
pub mod recording;
pub mod report;
pub mod robust;
mod stage;
pub mod surface;
pub mod trust;
pub mod twin;
