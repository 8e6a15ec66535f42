//! What is said of JSON files that are wrong.

use osculate_fit::json::{JsonError, from_slice};

#[derive(Debug, serde::Deserialize)]
#[expect(dead_code, reason = "only read")]
struct Folder {
    tosses: Vec<Toss>,
}

#[derive(Debug, serde::Deserialize)]
#[expect(dead_code, reason = "only read")]
struct Toss {
    start: usize,
    velocity: [f64; 3],
}

fn said(text: &str) -> String {
    match from_slice::<Folder>(text.as_bytes()) {
        Err(error) => error.to_string(),
        Ok(folder) => panic!("{folder:?} of {text}"),
    }
}

#[test]
fn errors_name_line_field_value_and_what_was_expected_once() {
    let found = said("{ \"tosses\": [\n{ \"start\": -1, \"velocity\": [1, 2, 3] }] }");
    let field = "line 2, column 13: `tosses[0].start`: ";
    assert_eq!(found, format!("{field}invalid value: integer `-1`, expected usize"));
    let found = said("{ \"tosses\": [{ \"start\": 1, \"velocity\": [1, 2] }] }");
    assert!(found.contains("`tosses[0].velocity`: invalid length 2"), "{found}");
    assert_eq!(said("{}"), "line 1, column 2: missing field `tosses`");
    let found = said("{ \"tosses\": [] } x");
    assert!(found.contains("line 1, column 18: trailing characters"), "{found}");
    let memory = serde_json::from_value::<Vec<u8>>(serde_json::json!(3)).unwrap_err();
    assert!(!JsonError::from(memory).to_string().contains("line"));
}
