//! C, C++ and Objective-C: `#include`, `#import`, `@import` and `import`, and the headers behind them.
//!
//! Build files with search paths are not read. The usual directories are tried: the one of the file, those
//! above it, and `include` and `src` in each. An include by macro is no import.
//!
//! Invariant: a standard header in angle brackets resolves to the project only below an `include` directory.

use crate::imports::Import;
use crate::imports::cached_project::CachedProject;
use crate::imports::paths::{ancestors, child_path, join, parent};

/// Standard headers whose names projects also give to their files.
const STANDARD_HEADERS: &[&str] = &[
    "assert.h",
    "complex.h",
    "ctype.h",
    "dirent.h",
    "errno.h",
    "fcntl.h",
    "fenv.h",
    "float.h",
    "getopt.h",
    "glob.h",
    "iconv.h",
    "inttypes.h",
    "iso646.h",
    "limits.h",
    "locale.h",
    "malloc.h",
    "math.h",
    "memory.h",
    "netdb.h",
    "poll.h",
    "pthread.h",
    "pwd.h",
    "regex.h",
    "sched.h",
    "search.h",
    "semaphore.h",
    "setjmp.h",
    "signal.h",
    "spawn.h",
    "stdalign.h",
    "stdarg.h",
    "stdatomic.h",
    "stdbool.h",
    "stddef.h",
    "stdint.h",
    "stdio.h",
    "stdlib.h",
    "stdnoreturn.h",
    "string.h",
    "strings.h",
    "syslog.h",
    "termios.h",
    "tgmath.h",
    "threads.h",
    "time.h",
    "uchar.h",
    "unistd.h",
    "utime.h",
    "wchar.h",
    "wctype.h",
];

pub(super) fn read_statement(statement: &str, line: usize) -> Vec<Import> {
    let lines = statement.lines().enumerate();
    lines
        .filter_map(|(at, text)| {
            let written = read_line(text.trim_start())?;
            Some(Import {
                written,
                line: line.saturating_add(at),
            })
        })
        .collect()
}

/// The header or module that one line includes. A header in angle brackets keeps them.
fn read_line(text: &str) -> Option<String> {
    if let Some(module) = text.strip_prefix("@import") {
        let module = module.trim().trim_end_matches(';').trim_end();
        return (!module.is_empty()).then(|| module.to_owned());
    }
    let is_directive = text.starts_with('#');
    let text = text.trim_start_matches('#').trim_start();
    let text = text.strip_prefix("export ").unwrap_or(text);
    let keywords = ["include_next", "include", "import"];
    let rest = keywords
        .iter()
        .find_map(|keyword| text.strip_prefix(keyword))
        .map(str::trim_start)?;
    if let Some(quoted) = rest.strip_prefix('"') {
        let (name, _) = quoted.split_once('"')?;
        return (!name.is_empty()).then(|| name.to_owned());
    }
    if let Some(bracketed) = rest.strip_prefix('<') {
        let (name, _) = bracketed.split_once('>')?;
        return (!name.trim().is_empty()).then(|| format!("<{}>", name.trim()));
    }
    // A C++ module. A directive with neither quotes nor brackets names a macro.
    let module = rest.trim_end_matches(';').trim_end();
    let is_module = !is_directive && text.starts_with("import ") && !module.is_empty();
    is_module.then(|| module.to_owned())
}

pub(super) fn resolve_import(project: &CachedProject<'_>, from: &str, written: &str) -> Vec<String> {
    let bracketed = written.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    let name = bracketed.unwrap_or(written).replace('\\', "/");
    let is_library =
        bracketed.is_some() && (STANDARD_HEADERS.contains(&name.as_str()) || !name.contains('.'));
    let directory = parent(from);
    let mut directories = Vec::new();
    if bracketed.is_none() {
        // A path that leaves the project from here must not resolve from a deeper directory that does not
        // exist.
        if join(directory, &name).is_none() {
            return Vec::new();
        }
        directories.push(directory.to_owned());
    }
    for above in ancestors(directory) {
        directories.push(child_path(above, "include"));
        if !is_library {
            directories.extend([above.to_owned(), child_path(above, "src")]);
        }
    }
    project
        .first_file(directories.iter().filter_map(|directory| join(directory, &name)))
        .into_iter()
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::imports::sample_project::{Sample, written};

    #[test]
    fn every_form_of_statement_is_read() {
        for (statement, expected) in [
            ("#include \"x.h\"\n", vec!["x.h"]),
            ("#  include <sys/types.h> // why", vec!["<sys/types.h>"]),
            ("#include_next <x.h>", vec!["<x.h>"]),
            ("#import \"View.h\"", vec!["View.h"]),
            ("@import Foundation;", vec!["Foundation"]),
            ("import <vector>;", vec!["<vector>"]),
            ("export import shop.cart;", vec!["shop.cart"]),
            ("#include HEADER", vec![]),
            ("#include \"open", vec![]),
            ("#define x \"y\"", vec![]),
        ] {
            assert_eq!(written("cpp", statement), expected, "{statement}");
        }
    }

    #[test]
    fn quoted_headers_are_looked_for_beside_the_file_then_in_the_usual_directories() {
        let sample = Sample::of(&[
            "src/net/a.h",
            "src/a.h",
            "src/b.h",
            "include/shop/c.h",
            "root.h",
            "lib/x/include/d.h",
            "src/only/e.h",
        ]);
        let check = |from, name, expected| sample.check("c", from, &format!("#include \"{name}\""), expected);
        check("src/net/x.c", "a.h", "src/net/a.h");
        check("src/net/x.c", "../a.h", "src/a.h");
        check("src/net/x.c", "b.h", "src/b.h");
        check("src/net/x.c", "shop/c.h", "include/shop/c.h");
        check("src/net/x.c", "root.h", "root.h");
        check("src/net/x.c", r"..\b.h", "src/b.h");
        check("lib/x/src/x.c", "d.h", "lib/x/include/d.h");
        check("tests/x.c", "only/e.h", "src/only/e.h");
        check("src/net/x.c", "absent.h", "external");
        check("src/net/x.c", "../../../root.h", "external");
    }

    #[test]
    fn bracketed_headers_are_looked_for_in_the_usual_directories() {
        let sample = Sample::of(&[
            "include/shop/c.h",
            "src/own.h",
            "src/string.h",
            "version",
            "include/math.h",
        ]);
        let check = |name, expected| sample.check("cpp", "src/x.cc", &format!("#include <{name}>"), expected);
        check("shop/c.h", "include/shop/c.h");
        check("own.h", "src/own.h");
        check("string.h", "external");
        check("version", "external");
        check("math.h", "include/math.h");
        check("vector", "external");
    }

    #[test]
    fn objective_c_imports_like_c() {
        let sample = Sample::of(&["App/View.h"]);
        sample.check("objective-c", "App/View.m", "#import \"View.h\"", "App/View.h");
        sample.check("objective-c", "App/View.m", "@import UIKit;", "external");
    }
}
