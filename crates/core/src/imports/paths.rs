//! Paths below the project root, as text: joining, parents, extensions.
//!
//! Nothing here looks at files; [`super::ProjectFiles`] knows which paths exist.
//!
//! Invariant: a joined path never leads outside the project. The root is the empty path.

/// Resolves a path relative to a directory; `None` if it leaves the project.
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

/// The path of a name, or of several names joined by `/`, in a directory.
pub(super) fn child_path(directory: &str, name: &str) -> String {
    match (directory, name) {
        ("", _) => name.to_owned(),
        (_, "") => directory.to_owned(),
        _ => format!("{directory}/{name}"),
    }
}

/// The directory of a path.
pub(super) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

/// The last component.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// The last component without its extension.
pub(super) fn stem(path: &str) -> &str {
    let name = file_name(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// The part after the last dot of the last component, or empty.
pub(super) fn extension(path: &str) -> &str {
    file_name(path)
        .rsplit_once('.')
        .map_or("", |(_, extension)| extension)
}

/// A directory and all directories above it, the root last.
pub(super) fn ancestors(directory: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(directory), |below| {
        (!below.is_empty()).then(|| parent(below))
    })
}

/// The rest of a path below a directory; `None` if it is not below.
pub(super) fn strip_directory<'p>(path: &'p str, directory: &str) -> Option<&'p str> {
    match path.strip_prefix(directory)? {
        rest if directory.is_empty() || rest.is_empty() => Some(rest),
        rest => rest.strip_prefix('/'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_leaves_the_project_does_not_join() {
        assert_eq!(join("a/b", "../c/./d//e"), Some("a/c/d/e".to_owned()));
        assert_eq!(join("a", ".."), Some(String::new()));
        assert_eq!(join("a", "../../b"), None);
        assert_eq!(join("a", "../../a/b"), None, "even if it would come back");
        assert_eq!(join("a", "/etc/passwd"), None);
        assert_eq!(join("a", "b\0"), None);
    }

    #[test]
    fn ancestors_end_with_the_root() {
        assert_eq!(ancestors("a/b").collect::<Vec<_>>(), ["a/b", "a", ""]);
        assert_eq!(ancestors("").collect::<Vec<_>>(), [""]);
        assert_eq!(parent("x.rs"), "");
        assert_eq!(stem("a/x.y.rs"), "x.y");
        assert_eq!(child_path("", "x"), "x");
    }

    #[test]
    fn a_directory_is_stripped_by_whole_components() {
        assert_eq!(strip_directory("a/b/c", "a"), Some("b/c"));
        assert_eq!(strip_directory("ab/c", "a"), None);
        assert_eq!(strip_directory("a", "a"), Some(""));
        assert_eq!(strip_directory("a/b", ""), Some("a/b"));
    }
}
