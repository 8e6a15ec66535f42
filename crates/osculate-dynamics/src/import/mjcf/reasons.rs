//! Why what is not read is not read.

/// By tag and attribute; without attribute, the whole element.
pub(super) fn reason(tag: &str, attribute: Option<&str>) -> &'static str {
    match attribute {
        None => of_element(tag),
        Some(attribute) => of_attribute(tag, attribute),
    }
}

fn of_element(tag: &str) -> &'static str {
    match tag {
        "visual" | "statistic" | "size" | "custom" | "texture" | "material" | "light"
        | "camera" | "skin" | "text" => "only looks, or of the other simulator",
        "sensor" => "sensors are not simulated",
        "keyframe" => "the model starts in its reference position",
        "tendon" => "tendons are not supported; what drives them does nothing",
        "mesh" => "no geometry uses it",
        "hfield" => "height fields are not supported",
        "joint" | "polycoef" => {
            "joints that follow another are not supported; both move on their own"
        }
        "flex" | "flexvert" | "deformable" => "soft bodies are not read",
        "extension" | "plugin" => "of the other simulator",
        "cylinder" | "muscle" | "adhesion" | "damper" | "intvelocity" | "dcmotor" => {
            "only motor, position, velocity and general are supported"
        }
        _ => "not known to this reader",
    }
}

fn of_attribute(tag: &str, attribute: &str) -> &'static str {
    match (tag, attribute) {
        (_, "user" | "rgba" | "material" | "group") => "only looks",
        (_, "solref" | "solimp" | "solmix" | "margin" | "gap" | "solreffriction") => {
            "contacts and constraints have the laws of this simulator, not softness by time constants"
        }
        ("joint", "solreflimit" | "solimplimit" | "solimpfriction") => {
            "limits are springs; their stiffness is a field of the joint"
        }
        ("joint", "springdamper") => "give stiffness and damping",
        ("joint", "actuatorgravcomp") | ("body", "gravcomp") => "gravity acts on every body",
        ("geom", "fluidshape" | "fluidcoef") | ("option", "density" | "viscosity" | "wind") => {
            "fluids are not simulated"
        }
        ("geom", "fitscale") => "shapes are not fitted to meshes",
        ("weld", "torquescale") => "the rotational stiffness is a field of the closure",
        ("mesh", _) => "how the other simulator draws it or makes its hull",
        ("option" | "flag", _) => "of the other simulator's solver",
        ("compiler", "boundmass" | "boundinertia") => "no mass is added to what has too little",
        ("compiler", "strippath") => "folders of mesh files are kept",
        (
            "compiler",
            "texturedir" | "discardvisual" | "usethread" | "alignfree" | "saveinertial",
        ) => "of the other simulator",
        ("position" | "velocity" | "motor" | "general", _) => {
            "only joint, gear, ranges, gains and bias are read"
        }
        ("body" | "frame", "sleep") => "of the other simulator's solver",
        _ => "not known to this reader",
    }
}
