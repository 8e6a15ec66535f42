//! The Rust of the README and of the guide, as doctests: `cargo test --doc`. There is nothing to use here.
#![forbid(unsafe_code)]

/// A page whose blocks without a language, or with `rust`, are tests.
#[cfg(doctest)]
macro_rules! pages {
    ($($name:ident: $path:literal),* $(,)?) => {
        $(#[doc = include_str!($path)] mod $name {})*
    };
}

#[cfg(doctest)]
pages! {
    readme: "../../README.md",
    impulse_derivatives: "../impulse-derivatives.md",
    straight_line: "straight-line.md",
    stage_form: "stage-form.md",
    adjoint: "adjoint.md",
    friction_disk: "friction-disk.md",
    restitution: "restitution.md",
    potential: "potential.md",
    identification: "identification.md",
    useless_gradients: "useless-gradients.md",
    choosing_a_model: "choosing-a-model.md",
}
