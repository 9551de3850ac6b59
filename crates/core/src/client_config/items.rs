//! Items of lists in JSON files, such as hooks and permission rules: added and removed.
//!
//! A caller says which items are docent's own by a predicate, because clients give them no names.
//!
//! Left out: TOML. No client keeps such lists in TOML alone.
//!
//! Invariant: the edited text, parsed once more, differs from the original in docent's own items and in lists
//! and objects around them that are empty or new. Anything else is refused.

use jsonc_parser::ast::ObjectProp;
use jsonc_parser::common::Ranged;
use serde_json::{Map, Value as Json};

use super::json::{self, JsonFile};
use super::splice::{apply, position_at, quote};
use super::style::FileStyle;
use super::{EditRefused, FileFormat, split_byte_order_mark};

/// An item of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListItem {
    /// The keys that lead to the list. At least one.
    pub keys: Vec<String>,
    pub value: Json,
}

/// The lists of a file that docent has items in.
pub struct ItemLists<'a> {
    pub form: FileFormat,
    /// The keys that lead to each list.
    pub lists: &'a [Vec<String>],
    /// Members that the file's object needs, such as a version. They are added if they are missing.
    pub root: &'a Map<String, Json>,
    /// Says whether an item is docent's own.
    pub is_own: &'a dyn Fn(&Json) -> bool,
}

impl ItemLists<'_> {
    /// docent's own items.
    pub fn find(&self, text: &str) -> Result<Vec<ListItem>, EditRefused> {
        let (_, text) = split_byte_order_mark(text);
        let text = json::replace_lone_surrogates(text);
        let file = JsonFile::read(&text, self.form)?;
        let mut found = Vec::new();
        for keys in self.lists {
            let members = file.members_along(&borrow(keys))?;
            let Some(holder) = members.last().filter(|_| members.len() == keys.len()) else {
                continue;
            };
            let Some(list) = holder.value.as_array() else {
                continue;
            };
            let values = list.elements.iter().map(|element| Json::from(element.clone()));
            found.extend(values.filter(self.is_own).map(|value| ListItem {
                keys: keys.clone(),
                value,
            }));
        }
        Ok(found)
    }

    /// Adds items at the end of their lists, and removes docent's own items that are not among them. `None`
    /// if nothing changes. A text without content becomes a whole file.
    pub fn put(&self, text: &str, items: &[ListItem]) -> Result<Option<String>, EditRefused> {
        let (mark, original) = split_byte_order_mark(text);
        let mut edited = original.to_owned();
        let is_outdated =
            |value: &Json| (self.is_own)(value) && !items.iter().any(|item| item.value == *value);
        let outdated = ItemLists {
            is_own: &is_outdated,
            ..*self
        };
        for keys in self.lists {
            while let Some(shorter) = outdated.remove_first(&edited, keys, keys.len())? {
                edited = shorter;
            }
        }
        for (name, value) in self.root {
            edited = add_member(&edited, self.form, name, value)?.unwrap_or(edited);
        }
        for item in items {
            edited = add_item(&edited, self.form, item)?.unwrap_or(edited);
        }
        if edited == original {
            return Ok(None);
        }
        self.check_difference(original, &edited)?;
        Ok(Some(format!("{mark}{edited}")))
    }

    /// Removes docent's own items. `None` if there are none. `before` is the text as it was before
    /// [`Self::put`]: if only the items have changed since, it is the result; otherwise lists and objects
    /// that it does not have are removed once they are empty.
    pub fn take_out(&self, text: &str, before: Option<&str>) -> Result<Option<String>, EditRefused> {
        let items = self.find(text)?;
        if items.is_empty() {
            return Ok(None);
        }
        if let Some(before) = before
            && let Ok(Some(with)) = self.put(before, &items)
            && with == text
        {
            return Ok(Some(before.to_owned()));
        }
        let (mark, original) = split_byte_order_mark(text);
        let before = before.map(|before| split_byte_order_mark(before).1);
        let mut edited = original.to_owned();
        for keys in self.lists {
            let kept = before.map_or(keys.len(), |before| count_keys(before, self.form, keys));
            while let Some(shorter) = self.remove_first(&edited, keys, kept)? {
                edited = shorter;
            }
        }
        let without_root = ItemLists {
            root: &Map::new(),
            ..*self
        };
        without_root.check_difference(original, &edited)?;
        Ok(Some(format!("{mark}{edited}")))
    }

    /// The text without the first own item of a list. `None` if there is none. A list or object that becomes
    /// empty goes with it, if it is deeper than the first `kept` keys.
    fn remove_first(&self, text: &str, keys: &[String], kept: usize) -> Result<Option<String>, EditRefused> {
        let readable = json::replace_lone_surrogates(text);
        let file = JsonFile::read(&readable, self.form)?;
        let members = file.members_along(&borrow(keys))?;
        let holder = members.last().filter(|_| members.len() == keys.len());
        let Some(list) = holder.and_then(|holder| holder.value.as_array()) else {
            return Ok(None);
        };
        let mut elements = list.elements.iter();
        let Some(index) = elements.position(|element| (self.is_own)(&Json::from(element.clone()))) else {
            return Ok(None);
        };
        let brackets = file.brackets(list);
        if keys.len() == kept || !brackets.has_single_member(file.text) {
            return Ok(Some(apply(text, brackets.remove_member(file.text, index))));
        }
        let mut last = keys.len() - 1;
        while last > kept
            && file
                .braces(file.object_at(&members[..last])?)
                .has_single_member(file.text)
        {
            last -= 1;
        }
        let object = file.object_at(&members[..last])?;
        let start = members[last].start();
        let mut properties = object.properties.iter();
        let index = properties.position(|member| member.start() == start);
        let splices = index.map(|index| file.braces(object).remove_member(file.text, index));
        Ok(splices.map(|splices| apply(text, splices)))
    }

    /// Refuses an edit that changed more than own items, members of `root` that were missing, and empty lists
    /// and objects around own items.
    fn check_difference(&self, before: &str, after: &str) -> Result<(), EditRefused> {
        let mut values = json::parse_values(before, self.form)?;
        let mut edited = json::parse_values(after, self.form).map_err(|_| EditRefused::Unproven)?;
        if let Some(object) = values.as_object_mut() {
            for (name, value) in self.root {
                object.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        for keys in self.lists {
            remove_own(&mut values, keys, self.is_own);
            remove_own(&mut edited, keys, self.is_own);
        }
        if values == edited {
            Ok(())
        } else {
            Err(EditRefused::Unproven)
        }
    }
}

fn borrow(keys: &[String]) -> Vec<&str> {
    keys.iter().map(String::as_str).collect()
}

/// The text with an item in its list. `None` if it is there.
fn add_item(text: &str, form: FileFormat, item: &ListItem) -> Result<Option<String>, EditRefused> {
    let readable = json::replace_lone_surrogates(text);
    let file = JsonFile::read(&readable, form)?;
    let keys = borrow(&item.keys);
    let members = file.members_along(&keys)?;
    let style = FileStyle::detect(file.text, &file.root, members.last().copied());
    if members.len() < keys.len() {
        let value = nest(&keys[members.len() + 1..], Json::Array(vec![item.value.clone()]));
        return add_to_object(text, &file, (&members, &style), (keys[members.len()], &value)).map(Some);
    }
    let holder = members[members.len() - 1];
    let list = holder.value.as_array().ok_or_else(|| EditRefused::WrongKind {
        at: position_at(file.text, holder.value.start()),
        what: format!("\"{}\"", holder.name.as_str()),
        wanted: "a list",
    })?;
    if list
        .elements
        .iter()
        .any(|element| Json::from(element.clone()) == item.value)
    {
        return Ok(None);
    }
    let layout = file.list_layout(list, holder, &style);
    let new = style.write_json(&item.value, layout.indent());
    let splices = file.brackets(list).add_members(file.text, &[new], &layout);
    Ok(Some(apply(text, splices)))
}

/// The text with a member of its outermost object. `None` if it has a member of that name.
fn add_member(text: &str, form: FileFormat, name: &str, value: &Json) -> Result<Option<String>, EditRefused> {
    let readable = json::replace_lone_surrogates(text);
    let file = JsonFile::read(&readable, form)?;
    if file.property(&file.root, name)?.is_some() {
        return Ok(None);
    }
    let style = FileStyle::detect(file.text, &file.root, None);
    add_to_object(text, &file, (&[], &style), (name, value)).map(Some)
}

/// Adds a member to the object that the last of `members` holds.
fn add_to_object(
    text: &str,
    file: &JsonFile<'_>,
    (members, style): (&[&ObjectProp<'_>], &FileStyle<'_>),
    (name, value): (&str, &Json),
) -> Result<String, EditRefused> {
    let one = |value: &Json| Json::Object(Map::from_iter([(name.to_owned(), value.clone())]));
    if file.is_empty {
        let object = style.write_json(&one(value), Some(""));
        let gap = if text.is_empty() || text.ends_with('\n') {
            ""
        } else {
            style.eol
        };
        let comments = if text.trim().is_empty() { "" } else { text };
        return Ok(format!(
            "{comments}{}{object}{}",
            if comments.is_empty() { "" } else { gap },
            style.eol
        ));
    }
    let object = file.object_at(members)?;
    let layout = file.layout(object, members.last().copied(), style);
    let written = style.write_json(value, layout.indent());
    let member = format!("{}:{}{written}", quote(name), style.space);
    let splices = file.braces(object).add_members(file.text, &[member], &layout);
    Ok(apply(text, splices))
}

/// The value inside one object per key.
fn nest(keys: &[&str], value: Json) -> Json {
    keys.iter().rev().fold(value, |value, key| {
        Json::Object(Map::from_iter([((*key).to_owned(), value)]))
    })
}

/// How many of the keys a text has. All of them if it cannot be parsed, so that no list is removed.
fn count_keys(text: &str, form: FileFormat, keys: &[String]) -> usize {
    let text = json::replace_lone_surrogates(text);
    let count = || {
        let file = JsonFile::read(&text, form).ok()?;
        Some(file.members_along(&borrow(keys)).ok()?.len())
    };
    count().unwrap_or(keys.len())
}

/// Removes own items from a list, then the list and each object around it that is empty.
fn remove_own(value: &mut Json, keys: &[String], is_own: &dyn Fn(&Json) -> bool) {
    let Some((key, rest)) = keys.split_first() else {
        if let Some(list) = value.as_array_mut() {
            list.retain(|item| !is_own(item));
        }
        return;
    };
    let Some(object) = value.as_object_mut() else {
        return;
    };
    let Some(inner) = object.get_mut(key) else {
        return;
    };
    remove_own(inner, rest, is_own);
    let is_empty = match inner {
        Json::Array(list) => list.is_empty(),
        Json::Object(members) => members.is_empty(),
        _ => false,
    };
    if is_empty {
        object.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn is_own(value: &Json) -> bool {
        value.to_string().contains("docent hook")
    }

    fn lists() -> Vec<Vec<String>> {
        [["hooks", "PreToolUse"], ["hooks", "SessionStart"]]
            .map(|keys| keys.map(str::to_owned).to_vec())
            .to_vec()
    }

    fn items() -> Vec<ListItem> {
        let hook = |matcher: &str| {
            let hook = json!({ "type": "command", "command": "docent hook claude" });
            json!({ "matcher": matcher, "hooks": [hook] })
        };
        let keys = lists();
        vec![
            ListItem {
                keys: keys[0].clone(),
                value: hook("Bash"),
            },
            ListItem {
                keys: keys[0].clone(),
                value: hook("Read"),
            },
            ListItem {
                keys: keys[1].clone(),
                value: hook("startup"),
            },
        ]
    }

    /// Calls `run` with the lists that docent has hooks in.
    fn in_lists<T>(root: &Map<String, Json>, run: impl Fn(&ItemLists<'_>) -> T) -> T {
        run(&ItemLists {
            form: FileFormat::Jsonc,
            lists: &lists(),
            root,
            is_own: &is_own,
        })
    }

    fn put(text: &str) -> Result<Option<String>, EditRefused> {
        in_lists(&Map::new(), |lists| lists.put(text, &items()))
    }

    fn take_out(text: &str, before: Option<&str>) -> String {
        let without = in_lists(&Map::new(), |lists| lists.take_out(text, before));
        without.unwrap().unwrap()
    }

    const FILES: [&str; 12] = [
        "{}",
        "{ }\n",
        "{\n}\n",
        "{\n  \"model\": \"opus\"\n}\n",
        "{\"model\":\"opus\",\"hooks\":{}}",
        "{\r\n\t\"hooks\": {\r\n\t\t\"PreToolUse\": []\r\n\t}\r\n}\r\n",
        "{\n  // mine\n  \"hooks\": {\n    \"PreToolUse\": [ // first\n      { \"matcher\": \"Bash\", \"hooks\": [] }, // last\n    ],\n  },\n}\n",
        "{\"hooks\": {\"PreToolUse\": [{\"matcher\": \"Edit\", \"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]}]}, \"a\": 1}\n",
        "\u{feff}{\n    \"hooks\": {\n        \"Stop\": [\n            {\n                \"hooks\": []\n            }\n        ]\n    }\n}",
        "{\n  \"hooks\": {\n    \"SessionStart\": [\n      {\n        \"matcher\": \"startup\"\n      }\n    ]\n  },\n  \"z\": [1, 2]\n}\n",
        "{\"a\": \"\\ud800\", \"hooks\": {\"PreToolUse\": [ ]}}",
        "{\n \"a\": {\"b\": [\n 1 ]}}",
    ];

    #[test]
    fn items_are_added_and_removed_and_every_byte_comes_back() {
        for before in FILES {
            let with = put(before).unwrap().unwrap();
            let found = in_lists(&Map::new(), |lists| lists.find(&with));
            assert_eq!(found, Ok(items()), "{with}");
            assert_eq!(put(&with), Ok(None), "{with}");
            assert_eq!(take_out(&with, Some(before)), before, "{with}");
        }
    }

    #[test]
    fn changes_of_the_user_between_both_are_kept() {
        for (before, from, to) in [
            ("{\n  \"model\": \"opus\"\n}\n", "opus", "haiku"),
            ("{\"a\":1,\"hooks\":{}}", "\"a\":1", "\"a\":2"),
        ] {
            let with = put(before).unwrap().unwrap().replace(from, to);
            assert_eq!(take_out(&with, Some(before)), before.replace(from, to), "{with}");
        }
    }

    #[test]
    fn an_older_item_is_replaced_and_those_of_others_stay() {
        let text = r#"{"hooks":{"PreToolUse":[{"command":"docent hook old"},{"command":"mine"}]}}"#;
        let with = put(text).unwrap().unwrap();
        assert!(!with.contains("old") && with.contains("mine"), "{with}");
        assert_eq!(
            take_out(&with, None),
            r#"{"hooks":{"PreToolUse":[{"command":"mine"}],"SessionStart":[]}}"#
        );
    }

    #[test]
    fn a_missing_member_of_the_file_is_added_and_another_value_is_kept() {
        let root = Map::from_iter([("version".to_owned(), json!(1))]);
        let put = |text: &str| in_lists(&root, |lists| lists.put(text, &items()[..1]).unwrap().unwrap());
        assert!(
            put("").starts_with("{\n  \"version\": 1,\n  \"hooks\": {\n"),
            "{}",
            put("")
        );
        assert!(put("{\"version\": 2}").starts_with("{\"version\": 2, \"hooks\": {"));
    }

    #[test]
    fn lists_of_another_kind_are_refused() {
        for text in [
            r#"{"hooks": {"PreToolUse": {}}}"#,
            r#"{"hooks": []}"#,
            r#"{"hooks": {}, "hooks": {}}"#,
            "[]",
            "{",
        ] {
            assert!(put(text).is_err(), "{text}: {:?}", put(text));
        }
    }
}
