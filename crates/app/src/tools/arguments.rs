//! Arguments: their schemas, generated from Rust types, and the validation of a call against them.
//!
//! Only the parts of JSON Schema that our types use are understood: objects of scalars with bounds, patterns
//! and choices, and lists of such scalars.
//!
//! Invariant: calls are validated against the whole schema, bounds included. `tools/list` shows it, or a
//! shorter one that allows no less (`mcp::tool_list`). The length of texts without a bound of their own is
//! limited without being listed.

use regex::Regex;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::markdown::shorten;

/// A JSON object.
pub(crate) type Object = Map<String, Value>;

/// An argument that breaks the schema.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ArgumentProblem {
    #[serde(skip)]
    pub(crate) kind: ProblemKind,
    /// The argument, and the position in it if it is a list.
    pub(crate) path: Vec<String>,
    /// The rule that it breaks, as a sentence.
    pub(crate) message: String,
}

/// Which rule of the schema an argument breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProblemKind {
    Missing,
    /// The schema has no such argument.
    Unknown,
    WrongType,
    NotAChoice,
    TooShort,
    TooLong,
    OutOfRange,
    PatternMismatch,
    /// It fits the schema and cannot be deserialised.
    Unreadable,
}

/// The schema of `T` as clients see it.
pub(crate) fn schema<T: JsonSchema>() -> Object {
    let mut schema = generate::<T>(SchemaSettings::draft2020_12());
    remove_rust_details(&mut schema);
    into_object(schema)
}

/// The schema of an answer: every field with its type, and which of them are always there. Descriptions are
/// left out: every client pays for the list of tools with each session, and the answer explains itself.
pub(crate) fn answer_schema<T: JsonSchema>() -> Object {
    let mut schema = generate::<T>(SchemaSettings::draft2020_12().for_serialize());
    reduce_to_types(&mut schema);
    into_object(schema)
}

fn generate<T: JsonSchema>(settings: SchemaSettings) -> Value {
    let settings = settings.with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

fn into_object(schema: Value) -> Object {
    let Value::Object(mut object) = schema else {
        unreachable!("arguments and answers are structs, whose schema is an object")
    };
    object.remove("description");
    object
}

/// Reduces the schema of an answer to types, choices and required fields.
fn reduce_to_types(schema: &mut Value) {
    let Value::Object(object) = schema else { return };
    unite_with_null(object);
    unite_choices(object);
    object.retain(|name, value| match name.as_str() {
        "type" | "enum" | "properties" | "required" | "items" | "additionalProperties" => true,
        "format" => value == "date-time",
        _ => false,
    });
    let required = object.get("required").cloned().unwrap_or_default();
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        for (name, property) in properties {
            reduce_to_types(property);
            let is_required = required
                .as_array()
                .is_some_and(|names| names.iter().any(|one| one == name));
            match property {
                Value::Object(property) if is_required => split_null(property),
                // An optional field without a value is missing, not null.
                Value::Object(property) => remove_null(property),
                _ => {}
            }
        }
    }
    for inner in ["items", "additionalProperties"] {
        if let Some(schema) = object.get_mut(inner) {
            reduce_to_types(schema);
        }
    }
}

/// Writes `anyOf` a schema and null, which a nullable struct has, as one schema with two types.
fn unite_with_null(object: &mut Object) {
    let Some(Value::Array(choices)) = object.get("anyOf") else {
        return;
    };
    let [Value::Object(other), null] = choices.as_slice() else {
        return;
    };
    if null["type"] == "null" {
        let mut united = other.clone();
        let types = Value::from(vec![other["type"].clone(), "null".into()]);
        united.insert("type".to_owned(), types);
        *object = united;
    }
}

/// Writes a schema with two types, the second of them null, as `anyOf` two schemas. Clients that know one
/// type for each value reject the list of types.
fn split_null(object: &mut Object) {
    let Some(Value::Array(types)) = object.get("type") else {
        return;
    };
    if let [one, null] = types.as_slice()
        && null == "null"
    {
        let one = one.clone();
        let mut other = std::mem::take(object);
        other.insert("type".to_owned(), one);
        object.insert("anyOf".to_owned(), json!([other, { "type": "null" }]));
    }
}

/// Writes `oneOf` several constants, which an enum with documented variants has, as a list of choices.
fn unite_choices(object: &mut Object) {
    let Some(Value::Array(choices)) = object.get("oneOf") else {
        return;
    };
    let names: Vec<Value> = choices.iter().map(|choice| choice["const"].clone()).collect();
    if names.iter().all(Value::is_string) {
        object.insert("type".to_owned(), "string".into());
        object.insert("enum".to_owned(), names.into());
    }
}

/// Removes null from the types that a value may have.
fn remove_null(object: &mut Object) {
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".into(), only);
        }
    }
}

/// Removes details of the Rust types that say nothing about the call: `format: uint32`, nullable options,
/// titles.
fn remove_rust_details(schema: &mut Value) {
    visit_schemas(schema, &mut |object| {
        object.shift_remove("title");
        if object.get("format").is_some_and(|format| format != "date-time") {
            object.shift_remove("format");
        }
        if object.get("default").is_some_and(Value::is_null) {
            object.shift_remove("default");
        }
        if let Some(Value::Array(choices)) = object.get_mut("enum") {
            choices.retain(|choice| !choice.is_null());
        }
        remove_null(object);
    });
}

/// Visits the schema and the schemas of its properties and items.
fn visit_schemas(schema: &mut Value, visit: &mut impl FnMut(&mut Object)) {
    let Value::Object(object) = schema else { return };
    visit(object);
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        properties
            .values_mut()
            .for_each(|property| visit_schemas(property, visit));
    }
    for inner in ["items", "additionalProperties"] {
        if let Some(schema) = object.get_mut(inner) {
            visit_schemas(schema, visit);
        }
    }
}

/// Validates `arguments` against `schema` and returns those that the schema knows. `null` means not given,
/// unknown arguments are dropped unless the schema refuses them, and whole numbers written as `5.0` become
/// `5`.
pub(crate) fn check(schema: &Object, mut arguments: Object) -> Result<Object, Vec<ArgumentProblem>> {
    let mut problems = Vec::new();
    let mut accepted = Object::new();
    let empty = Object::new();
    let properties = schema
        .get("properties")
        .and_then(Value::as_object)
        .unwrap_or(&empty);
    for (name, property) in properties {
        match arguments.remove(name) {
            None | Some(Value::Null) => {
                if is_required(schema, name) {
                    problems.push(ArgumentProblem {
                        kind: ProblemKind::Missing,
                        path: vec![name.clone()],
                        message: format!("{name} is required"),
                    });
                }
            }
            Some(value) => {
                let value = normalise_integer(property, value);
                match find_problem(name, property, &value) {
                    None => drop(accepted.insert(name.clone(), value)),
                    Some(problem) => problems.push(problem),
                }
            }
        }
    }
    if schema.get("additionalProperties") == Some(&Value::Bool(false)) {
        let names: Vec<&str> = properties.keys().map(String::as_str).collect();
        for name in arguments.keys() {
            problems.push(ArgumentProblem {
                kind: ProblemKind::Unknown,
                path: vec![name.clone()],
                message: format!(
                    "there is no argument '{}'; there are: {}",
                    shorten(name),
                    names.join(", ")
                ),
            });
        }
    }
    if problems.is_empty() {
        Ok(accepted)
    } else {
        Err(problems)
    }
}

pub(crate) fn is_required(schema: &Object, name: &str) -> bool {
    schema
        .get("required")
        .and_then(Value::as_array)
        .is_some_and(|names| names.iter().any(|n| n == name))
}

/// Turns `5.0` into `5`: JSON has one type of number.
fn normalise_integer(property: &Value, value: Value) -> Value {
    match value.as_f64() {
        Some(number) if property["type"] == "integer" && number.fract() == 0.0 && number.abs() < 1e15 => {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a whole number below 2^53 in size"
            )]
            let whole = number as i64;
            whole.into()
        }
        _ => value,
    }
}

/// The problem of an argument, or of the first item of a list that has one.
fn find_problem(name: &str, property: &Value, value: &Value) -> Option<ArgumentProblem> {
    if let Some((kind, rule)) = broken_rule(property, value) {
        return Some(ArgumentProblem {
            kind,
            path: vec![name.to_owned()],
            message: format!("{name} must {rule}"),
        });
    }
    value.as_array()?.iter().enumerate().find_map(|(at, item)| {
        let (kind, rule) = broken_rule(&property["items"], item)?;
        Some(ArgumentProblem {
            kind,
            path: vec![name.to_owned(), at.to_string()],
            message: format!("{name}[{at}] must {rule}"),
        })
    })
}

/// A rule that a value breaks, worded to follow "must".
type BrokenRule = (ProblemKind, String);

/// The first rule of the property that the value breaks.
fn broken_rule(property: &Value, value: &Value) -> Option<BrokenRule> {
    let wrong_type = |rule: &str| Some((ProblemKind::WrongType, rule.to_owned()));
    if let Some(choices) = property.get("enum").and_then(Value::as_array) {
        let names: Vec<&str> = choices.iter().filter_map(Value::as_str).collect();
        return (!choices.contains(value)).then(|| {
            (
                ProblemKind::NotAChoice,
                format!("be one of: {}", list_names(&names)),
            )
        });
    }
    match property["type"].as_str() {
        Some("string") => match value.as_str() {
            None => wrong_type("be a string"),
            Some(text) => check_length(property, text).or_else(|| check_pattern(property, text)),
        },
        Some("integer") => match value.as_i64() {
            None => wrong_type("be a whole number"),
            Some(number) => check_range(property, number),
        },
        Some("boolean") if !value.is_boolean() => wrong_type("be true or false"),
        Some("array") if !value.is_array() => wrong_type("be an array"),
        Some("boolean" | "array") => None,
        other => unreachable!("no tool takes an argument of type {other:?}"),
    }
}

/// Limit for texts whose schema has none. Paths and names are shorter, and a limit in every schema would cost
/// every client tokens.
const MAX_TEXT_CHARS: u64 = 4_096;

/// Choices that an error lists.
const MAX_LISTED_NAMES: usize = 50;

/// Joins the first names, with the total if there are more.
pub(crate) fn list_names(names: &[&str]) -> String {
    match names.len() {
        0..=MAX_LISTED_NAMES => names.join(", "),
        all => format!("{}, … ({all} in all)", names[..MAX_LISTED_NAMES].join(", ")),
    }
}

fn check_length(property: &Value, text: &str) -> Option<BrokenRule> {
    let length = text.chars().count() as u64;
    let max = property["maxLength"].as_u64().unwrap_or(MAX_TEXT_CHARS);
    if let Some(min) = property["minLength"].as_u64().filter(|min| length < *min) {
        let plural = if min == 1 { "" } else { "s" };
        Some((
            ProblemKind::TooShort,
            format!("have at least {min} character{plural}"),
        ))
    } else if length > max {
        Some((
            ProblemKind::TooLong,
            format!("have at most {max} characters; it has {length}"),
        ))
    } else {
        None
    }
}

fn check_pattern(property: &Value, text: &str) -> Option<BrokenRule> {
    let pattern = property["pattern"].as_str()?;
    let regex = Regex::new(pattern).expect("the pattern is a literal of ours");
    (!regex.is_match(text)).then(|| (ProblemKind::PatternMismatch, format!("match {pattern}")))
}

fn check_range(property: &Value, number: i64) -> Option<BrokenRule> {
    let (min, max) = (property["minimum"].as_i64(), property["maximum"].as_i64());
    let is_outside = min.is_some_and(|min| number < min) || max.is_some_and(|max| number > max);
    is_outside.then(|| {
        let rule = match (min, max) {
            (Some(min), Some(max)) => format!("be between {min} and {max}"),
            (Some(min), None) => format!("be at least {min}"),
            (_, Some(max)) => format!("be at most {max}"),
            (None, None) => unreachable!("a number is only outside of bounds that exist"),
        };
        (ProblemKind::OutOfRange, rule)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    #[expect(dead_code, reason = "only the schema is looked at")]
    struct SampleArgs {
        /// What to find
        #[schemars(length(min = 1, max = 5))]
        some_text: String,
        #[serde(default = "five")]
        #[schemars(range(min = 1, max = 9))]
        limit: u32,
        #[serde(default)]
        deep: bool,
        #[schemars(regex(pattern = "^[a-z]+$"))]
        word: Option<String>,
        #[serde(default)]
        #[schemars(inner(length(min = 1)))]
        names: Vec<String>,
    }

    fn five() -> u32 {
        5
    }

    fn problems(arguments: &Value) -> Vec<String> {
        let Value::Object(arguments) = arguments.clone() else {
            panic!("an object")
        };
        match check(&schema::<SampleArgs>(), arguments) {
            Ok(known) => vec![Value::Object(known).to_string()],
            Err(problems) => problems.into_iter().map(|problem| problem.message).collect(),
        }
    }

    #[test]
    fn a_schema_speaks_of_the_call_and_not_of_rust() {
        assert_eq!(
            Value::Object(schema::<SampleArgs>()),
            json!({
                "type": "object",
                "properties": {
                    "someText": { "description": "What to find", "type": "string", "minLength": 1, "maxLength": 5 },
                    "limit": { "type": "integer", "default": 5, "minimum": 1, "maximum": 9 },
                    "deep": { "type": "boolean", "default": false },
                    "word": { "type": "string", "pattern": "^[a-z]+$" },
                    "names": { "type": "array", "items": { "type": "string", "minLength": 1 }, "default": [] },
                },
                "required": ["someText"],
            })
        );
    }

    #[test]
    fn every_problem_is_named_with_what_is_allowed() {
        assert_eq!(problems(&json!({})), ["someText is required"]);
        assert_eq!(problems(&json!({ "someText": null })), ["someText is required"]);
        assert_eq!(
            problems(&json!({ "someText": "", "limit": 10, "deep": "yes", "word": "A" })),
            [
                "someText must have at least 1 character",
                "limit must be between 1 and 9",
                "deep must be true or false",
                "word must match ^[a-z]+$"
            ]
        );
        assert_eq!(
            problems(&json!({ "someText": "abcdef", "limit": 1.5 })),
            [
                "someText must have at most 5 characters; it has 6",
                "limit must be a whole number"
            ]
        );
        assert_eq!(
            problems(&json!({ "someText": "a", "names": ["b".repeat(4_097)] })),
            ["names[0] must have at most 4096 characters; it has 4097"]
        );
        assert_eq!(
            problems(&json!({ "someText": 7, "limit": "3" })),
            ["someText must be a string", "limit must be a whole number"]
        );
        assert_eq!(
            problems(&json!({ "someText": "a", "limit": 1e300 })),
            ["limit must be a whole number"]
        );
        assert_eq!(
            problems(&json!({ "someText": "a", "names": "one" })),
            ["names must be an array"]
        );
        assert_eq!(
            problems(&json!({ "someText": "a", "names": ["one", 2, ""] })),
            ["names[1] must be a string"]
        );
        assert_eq!(
            problems(&json!({ "someText": "a", "names": [""] })),
            ["names[0] must have at least 1 character"]
        );
    }

    #[test]
    fn a_schema_can_refuse_what_it_does_not_know() {
        let mut strict = schema::<SampleArgs>();
        strict.insert("additionalProperties".into(), false.into());
        let given = json!({ "someText": "a", "other": 1 });
        let problems = check(&strict, given.as_object().unwrap().clone()).unwrap_err();
        assert_eq!(
            problems[0].message,
            "there is no argument 'other'; there are: someText, limit, deep, word, names"
        );
    }

    #[test]
    fn what_is_known_and_given_is_kept() {
        assert_eq!(
            problems(&json!({ "someText": "äöüßé", "limit": 5.0, "word": null, "unknown": 1 })),
            [r#"{"someText":"äöüßé","limit":5}"#]
        );
    }
}
