//! Paths below the project root, as text: joining, and the directories above.
//!
//! Whether something is there is the project's question.
//!
//! Invariant: what is put together here never leads outside the project. The root is the empty path.

/// The place `relative` names as seen from `directory`, or nothing where it leaves the project.
pub(super) fn join(directory: &str, relative: &str) -> Option<String> {
    if relative.starts_with('/') || relative.chars().any(char::is_control) {
        return None;
    }
    let mut components: Vec<&str> = directory.split('/').filter(|name| !name.is_empty()).collect();
    for component in relative.split('/') {
        match component {
            "" | "." => {}
            ".." => drop(components.pop()?),
            name => components.push(name),
        }
    }
    Some(components.join("/"))
}

/// The place of a plain name, or of names with `/` between them, in a directory.
pub(super) fn child_path(directory: &str, name: &str) -> String {
    match (directory, name) {
        ("", _) => name.to_owned(),
        (_, "") => directory.to_owned(),
        _ => format!("{directory}/{name}"),
    }
}

/// The directory something is in.
pub(super) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

/// The last component.
pub(super) fn name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// The last component without its extension.
pub(super) fn stem(path: &str) -> &str {
    let name = name(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// What follows the last dot of the last component.
pub(super) fn extension(path: &str) -> &str {
    name(path).rsplit_once('.').map_or("", |(_, extension)| extension)
}

/// A directory and all above it, the root last.
pub(super) fn ancestors(directory: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(directory), |below| {
        (!below.is_empty()).then(|| parent(below))
    })
}

/// What of a path lies below a directory; nothing where it does not.
pub(super) fn below<'p>(path: &'p str, directory: &str) -> Option<&'p str> {
    match path.strip_prefix(directory)? {
        rest if directory.is_empty() || rest.is_empty() => Some(rest),
        rest => rest.strip_prefix('/'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_leaves_the_project_is_none() {
        assert_eq!(join("a/b", "../c/./d//e"), Some("a/c/d/e".to_owned()));
        assert_eq!(join("a", ".."), Some(String::new()));
        assert_eq!(join("a", "../../b"), None);
        assert_eq!(join("a", "../../a/b"), None, "also where it would come back");
        assert_eq!(join("a", "/etc/passwd"), None);
        assert_eq!(join("a", "b\0"), None);
    }

    #[test]
    fn directories_are_named_up_to_the_root() {
        assert_eq!(ancestors("a/b").collect::<Vec<_>>(), ["a/b", "a", ""]);
        assert_eq!(ancestors("").collect::<Vec<_>>(), [""]);
        assert_eq!(parent("x.rs"), "");
        assert_eq!(stem("a/x.y.rs"), "x.y");
        assert_eq!(child_path("", "x"), "x");
    }

    #[test]
    fn below_is_by_whole_components() {
        assert_eq!(below("a/b/c", "a"), Some("b/c"));
        assert_eq!(below("ab/c", "a"), None);
        assert_eq!(below("a", "a"), Some(""));
        assert_eq!(below("a/b", ""), Some("a/b"));
    }
}
