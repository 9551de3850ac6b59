//! Arguments: their schemas, made from Rust types, and the check of a call against them.
//!
//! The schema that clients are shown is the one that calls are held against, bounds included, so the two cannot
//! differ; only what no caller means, endless texts, is refused without being said. Only what our schemas use is understood: objects of scalars with bounds, patterns and choices,
//! and of lists of such scalars.

use regex::Regex;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::Value;

use super::Object;
use super::failure::brief;

/// One argument that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ArgumentProblem {
    /// The argument, as a path for nested ones.
    pub(crate) path: Vec<String>,
    /// What is allowed.
    pub(crate) message: String,
}

/// The schema of `T` as clients should see it.
pub(crate) fn schema<T: JsonSchema>() -> Object {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    tidy(&mut schema);
    let Value::Object(mut object) = schema else {
        unreachable!("arguments are structs, whose schema is an object")
    };
    object.remove("description");
    object
}

/// The schema of an answer: the fields that are always there, and their types, no deeper. Every client pays for it with each
/// session; what is inside a field, and what else there may be, shows in the answer itself.
pub(crate) fn answer_schema<T: JsonSchema>() -> Object {
    let mut schema = schema::<T>();
    let mut always = schema.shift_remove("required").unwrap_or_default();
    if let Some(names) = always.as_array_mut() {
        names.truncate(MAX_NAMED_FIELDS);
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.retain(|name, _| {
            always
                .as_array()
                .is_some_and(|names| names.iter().any(|one| one == name))
        });
        for property in properties.values_mut().filter_map(Value::as_object_mut) {
            property.retain(|name, _| name == "type");
        }
    }
    schema
}

/// Takes out what is about Rust (`format: uint32`, nullable options, titles) and not about the call.
fn tidy(schema: &mut Value) {
    each(schema, &mut |object| {
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
        if let Some(Value::Array(types)) = object.get_mut("type") {
            types.retain(|name| name != "null");
            if let [only] = types.as_slice() {
                let only = only.clone();
                object.insert("type".into(), only);
            }
        }
    });
}

/// Visits the schema and the schemas of its properties and items.
fn each(schema: &mut Value, visit: &mut impl FnMut(&mut Object)) {
    let Value::Object(object) = schema else { return };
    visit(object);
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        properties.values_mut().for_each(|property| each(property, visit));
    }
    for inner in ["items", "additionalProperties"] {
        if let Some(schema) = object.get_mut(inner) {
            each(schema, visit);
        }
    }
}

/// Holds `arguments` against `schema`. What is left is exactly what the schema knows: `null` means not given,
/// unknown arguments are dropped unless the schema refuses them, whole numbers written as `5.0` become `5`.
pub(crate) fn check(schema: &Object, mut arguments: Object) -> Result<Object, Vec<ArgumentProblem>> {
    let mut problems = Vec::new();
    let mut known = Object::new();
    let empty = Object::new();
    let properties = schema
        .get("properties")
        .and_then(Value::as_object)
        .unwrap_or(&empty);
    for (name, property) in properties {
        match arguments.remove(name) {
            None | Some(Value::Null) => {
                if required(schema, name) {
                    problems.push(ArgumentProblem {
                        path: vec![name.clone()],
                        message: format!("{name} is required"),
                    });
                }
            }
            Some(value) => {
                let value = whole(property, value);
                match problem(name, property, &value) {
                    None => drop(known.insert(name.clone(), value)),
                    Some(problem) => problems.push(problem),
                }
            }
        }
    }
    if schema.get("additionalProperties") == Some(&Value::Bool(false)) {
        let names: Vec<&str> = properties.keys().map(String::as_str).collect();
        for name in arguments.keys() {
            problems.push(ArgumentProblem {
                path: vec![name.clone()],
                message: format!(
                    "there is no argument '{}'; there are: {}",
                    brief(name),
                    names.join(", ")
                ),
            });
        }
    }
    if problems.is_empty() {
        Ok(known)
    } else {
        Err(problems)
    }
}

pub(crate) fn required(schema: &Object, name: &str) -> bool {
    schema
        .get("required")
        .and_then(Value::as_array)
        .is_some_and(|names| names.iter().any(|n| n == name))
}

/// JSON knows one kind of number: `5.0` is a whole one.
fn whole(property: &Value, value: Value) -> Value {
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

/// What is wrong with an argument, or with the first item of a list that is not as it should be.
fn problem(name: &str, property: &Value, value: &Value) -> Option<ArgumentProblem> {
    if let Some(rule) = complaint(property, value) {
        return Some(ArgumentProblem {
            path: vec![name.to_owned()],
            message: format!("{name} must {rule}"),
        });
    }
    value.as_array()?.iter().enumerate().find_map(|(at, item)| {
        let rule = complaint(&property["items"], item)?;
        Some(ArgumentProblem {
            path: vec![name.to_owned(), at.to_string()],
            message: format!("{name}[{at}] must {rule}"),
        })
    })
}

/// What the property demands and the value does not fulfil, to follow the word "must".
fn complaint(property: &Value, value: &Value) -> Option<String> {
    if let Some(choices) = property.get("enum").and_then(Value::as_array) {
        let names: Vec<&str> = choices.iter().filter_map(Value::as_str).collect();
        return (!choices.contains(value)).then(|| format!("be one of: {}", some(&names)));
    }
    match property["type"].as_str() {
        Some("string") => match value.as_str() {
            None => Some("be a string".into()),
            Some(text) => length(property, text).or_else(|| pattern(property, text)),
        },
        Some("integer") => match value.as_i64() {
            None => Some("be a whole number".into()),
            Some(number) => range(property, number),
        },
        Some("boolean") => (!value.is_boolean()).then(|| "be true or false".into()),
        Some("array") => (!value.is_array()).then(|| "be an array".into()),
        other => unreachable!("no tool takes an argument of type {other:?}"),
    }
}

/// Characters of a text that no schema says more about: paths and names are shorter, and to say so everywhere would cost every
/// client.
const LONGEST: u64 = 4_096;

/// Fields of an answer that its schema names; the answer itself shows the rest.
const MAX_NAMED_FIELDS: usize = 3;

/// Choices that are named.
const NAMED: usize = 50;

/// The first of them, and how many there are where that is not all.
pub(crate) fn some(names: &[&str]) -> String {
    match names.len() {
        0..=NAMED => names.join(", "),
        all => format!("{}, … ({all} in all)", names[..NAMED].join(", ")),
    }
}

fn length(property: &Value, text: &str) -> Option<String> {
    let length = text.chars().count() as u64;
    let least = property["minLength"].as_u64();
    let most = property["maxLength"].as_u64().unwrap_or(LONGEST);
    if least.is_some_and(|least| length < least) {
        let least = least?;
        let plural = if least == 1 { "" } else { "s" };
        Some(format!("have at least {least} character{plural}"))
    } else if length > most {
        Some(format!("have at most {most} characters; it has {length}"))
    } else {
        None
    }
}

fn pattern(property: &Value, text: &str) -> Option<String> {
    let pattern = property["pattern"].as_str()?;
    let regex = Regex::new(pattern).expect("the pattern is a literal of ours");
    (!regex.is_match(text)).then(|| format!("match {pattern}"))
}

fn range(property: &Value, number: i64) -> Option<String> {
    let (least, most) = (property["minimum"].as_i64(), property["maximum"].as_i64());
    let outside = least.is_some_and(|least| number < least) || most.is_some_and(|most| number > most);
    outside.then(|| match (least, most) {
        (Some(least), Some(most)) => format!("be between {least} and {most}"),
        (Some(least), None) => format!("be at least {least}"),
        (_, Some(most)) => format!("be at most {most}"),
        (None, None) => unreachable!("a number is only outside of bounds that exist"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::json;

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    #[expect(dead_code, reason = "only the schema is looked at")]
    struct Sample {
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
        match check(&schema::<Sample>(), arguments) {
            Ok(known) => vec![Value::Object(known).to_string()],
            Err(problems) => problems.into_iter().map(|problem| problem.message).collect(),
        }
    }

    #[test]
    fn a_schema_speaks_of_the_call_and_not_of_rust() {
        assert_eq!(
            Value::Object(schema::<Sample>()),
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
        let mut strict = schema::<Sample>();
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
