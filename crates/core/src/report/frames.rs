//! Stack frames and places of files in a text: Python, JavaScript, Java, Kotlin, Go, Rust, Ruby, C#, PHP, and
//! the `PATH:LINE` that compilers and test runners print.
//!
//! Which of the paths are the project's is not known here. A frame of Java or Kotlin has no path but a
//! package, which is written as one.
//!
//! Invariant: frames of one trace come with the innermost first, whichever way the language prints them.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::{NamedPlace, PlaceSource};

/// A form of a frame: the pattern has the groups `path`, `line` and `function`, of which the last two may
/// miss.
struct FrameForm {
    pattern: Regex,
    /// The innermost frame is printed last.
    is_innermost_last: bool,
}

/// The frames of a text, the innermost of each trace first.
pub(super) fn read_frames(lines: &[&str]) -> Vec<NamedPlace> {
    let mut places: Vec<NamedPlace> = Vec::new();
    // Frames of the trace that is being read, if the innermost is last.
    let mut reversed: Vec<NamedPlace> = Vec::new();
    let mut function_before = None;
    for line in lines {
        let found = FORMS
            .iter()
            .find_map(|form| Some((form, form.pattern.captures(line)?)));
        let Some((form, captures)) = found else {
            // Go and Rust print the function on the line before its place.
            function_before = function_of_line(line);
            if is_trace_end(line) {
                places.extend(reversed.drain(..).rev());
            }
            continue;
        };
        let mut place = place_of(&captures);
        place.function = place.function.or_else(|| function_before.take());
        if form.is_innermost_last {
            reversed.push(place);
        } else {
            places.push(place);
        }
    }
    places.extend(reversed.into_iter().rev());
    places
}

static FORMS: LazyLock<Vec<FrameForm>> = LazyLock::new(|| {
    /// A path up to its extension.
    const PATH: &str = r"(?P<path>(?:[A-Za-z]:)?[^\s:()\[\]'`<>,;|]*[^\s:()\[\]'`<>,;|/\\]\.[A-Za-z]\w{0,6})";
    let form = |pattern: &str, is_innermost_last: bool| FrameForm {
        pattern: Regex::new(&pattern.replace("PATH", PATH)).expect("the pattern is a literal"),
        is_innermost_last,
    };
    vec![
        // Python: File "a/b.py", line 3, in function
        form(
            r#"File "(?P<path>[^"<>]+\.\w+)", line (?P<line>\d+)(?:, in (?P<function>[\w.<>]+))?"#,
            true,
        ),
        // Java, Kotlin, Scala: at org.pack.Type.method(File.java:3)
        form(
            r"^\s*at (?:[\w.-]+/)*(?P<package>(?:[\w$]+\.)*?)(?P<type>[\w$]+)\.(?P<function>[\w$<>]+)\((?P<file>[\w$]+\.(?:java|kt|scala|groovy)):(?P<line>\d+)\)",
            false,
        ),
        // C#: at Space.Type.Method(String a) in /a/b.cs:line 3
        form(
            r"^\s*at (?P<function>[\w.`<>\[\]+]+)\(.*\) in (?P<path>.+\.\w+):line (?P<line>\d+)",
            false,
        ),
        // PHP: #0 /a/b.php(3): Type->method()
        form(
            r"^#\d+ (?P<path>\S+\.\w+)\((?P<line>\d+)\): (?:[\w\\]+(?:->|::))?(?P<function>\w+)",
            false,
        ),
        // JavaScript: at function (file:///a/b.js:3:4), function@http://host/a/b.js:3:4
        form(
            r"^\s*at (?:async )?(?:new )?(?P<function>[\w$.<>\[\] ]+?) \((?:[a-z-]+://[^/\s]*/)?PATH(?:\?[^:]*)?:(?P<line>\d+)(?::\d+)?\)",
            false,
        ),
        form(
            r"^(?P<function>[\w$.<>/]*)@(?:[a-z-]+://[^/\s]*/)?PATH(?:\?[^:]*)?:(?P<line>\d+):\d+$",
            false,
        ),
        // Ruby: a/b.rb:3:in 'Type#method'
        form(
            r"PATH:(?P<line>\d+):in [`'](?:block (?:\(\d+ levels\) )?in )?(?P<function>[^`']+)'",
            false,
        ),
        // pytest: a/b.py:3: in function
        form(r"^PATH:(?P<line>\d+): in (?P<function>\w+)", true),
        // Compilers, test runners, Go, Rust: a/b.rs:3:4
        form(r"PATH:(?P<line>\d+)\b", false),
        // A link to a line of a file on a code host.
        form(
            r"https?://[^\s/]+/[^\s/]+/[^\s/]+/(?:-/)?(?:blob|src|raw)/(?:branch/|commit/|tag/)?[^\s/]+/(?P<path>[^\s#?)]+\.\w+)(?:#L(?P<line>\d+))?",
            false,
        ),
    ]
});

fn place_of(captures: &Captures<'_>) -> NamedPlace {
    let text = |name: &str| captures.name(name).map(|found| found.as_str());
    let path = match (text("package"), text("file")) {
        (Some(package), Some(file)) => format!("{}{file}", package.replace('.', "/")),
        _ => text("path").unwrap_or_default().replace('\\', "/"),
    };
    NamedPlace {
        path: path.trim_start_matches("./").to_owned(),
        line: text("line").and_then(|line| line.parse().ok()),
        function: text("function").and_then(last_name),
        source: PlaceSource::Frame,
    }
}

/// The name of a function without what encloses it: `method` of `Type#method`, `Space.Type.method`.
fn last_name(function: &str) -> Option<String> {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '?' | '!');
    let name = function
        .rsplit(|c: char| !is_name(c))
        .find(|part| !part.is_empty())?;
    let is_anonymous = matches!(
        name,
        "module" | "lambda" | "anonymous" | "listcomp" | "genexpr" | "main"
    );
    (!is_anonymous || function == name).then(|| name.to_owned())
}

/// The function of a line of Go (`pkg/path.(*Type).Method(0x1, …)`) or Rust (`3: krate::module::function`),
/// whose place follows.
fn function_of_line(line: &str) -> Option<String> {
    static GO: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^[\w./-]+\.(?:\(\*?\w+\)\.)?(?P<function>\w+)(?:\.func\d+(?:\.\d+)*)?\([^)]*\)$")
            .expect("the pattern is a literal")
    });
    static RUST: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^\s*\d+:\s+(?:0x[0-9a-f]+ - )?(?P<path>[\w:<>{}# ]+)$")
            .expect("the pattern is a literal")
    });
    if let Some(found) = GO.captures(line) {
        return Some(found["function"].to_owned());
    }
    let found = RUST.captures(line)?;
    let is_part = |part: &&str| !part.starts_with('{') && (part.len() != 17 || !part.starts_with('h'));
    found["path"].rsplit("::").find(is_part).and_then(last_name)
}

/// Whether a line ends a trace whose innermost frame is last: the error itself.
fn is_trace_end(line: &str) -> bool {
    static ERROR: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r"^(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Warning|Exit|Interrupt)\b|^Traceback \(most recent",
        )
        .expect("the pattern is a literal")
    });
    ERROR.is_match(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let lines: Vec<&str> = text.lines().collect();
        let shown: Vec<String> = read_frames(&lines)
            .iter()
            .map(|place| {
                let line = place.line.map(|line| format!(":{line}")).unwrap_or_default();
                let function = place
                    .function
                    .as_deref()
                    .map(|name| format!(" {name}"))
                    .unwrap_or_default();
                format!("{}{line}{function}", place.path)
            })
            .collect();
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn the_last_frame_of_python_comes_first() {
        check(
            "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    run()\n  File \"/lib/b.py\", line 22, in run\nValueError: no\n\
             Traceback (most recent call last):\n  File \"c.py\", line 3, in other\nKeyError: 1",
            &["/lib/b.py:22 run", "a.py:1", "c.py:3 other"],
        );
        check(
            "tests/a_test.py:12: in test_it\nsrc/b.py:3: in run\n",
            &["src/b.py:3 run", "tests/a_test.py:12 test_it"],
        );
    }

    #[test]
    fn frames_of_other_languages_begin_with_the_innermost() {
        check(
            "Error: no\n    at Object.sink (/home/me/app/src/walrus.js:12:7)\n    at async /app/src/index.ts:3:1\n",
            &["/home/me/app/src/walrus.js:12 sink", "/app/src/index.ts:3"],
        );
        check(
            "sink@http://localhost:8080/src/walrus.js:12:7",
            &["src/walrus.js:12 sink"],
        );
        check(
            "\tat org.sea.animals.Walrus.sink(Walrus.java:41)\n\tat java.base/java.lang.Thread.run(Thread.java:833)",
            &[
                "org/sea/animals/Walrus.java:41 sink",
                "java/lang/Thread.java:833 run",
            ],
        );
        check(
            "goroutine 1 [running]:\nexample.com/sea/walrus.(*Walrus).Sink(0xc0, 0x1)\n\t/home/me/sea/walrus/walrus.go:27 +0x1d\n",
            &["/home/me/sea/walrus/walrus.go:27 Sink"],
        );
        check(
            "thread 'main' panicked at src/walrus.rs:12:5:\n   3: sea::walrus::sink::h0123456789abcdef\n             at ./src/walrus.rs:9:1\n",
            &["src/walrus.rs:12", "src/walrus.rs:9 sink"],
        );
        check(
            "lib/walrus.rb:12:in 'Walrus#sink'\nfrom lib/a.rb:3:in `block in run'",
            &["lib/walrus.rb:12 sink", "lib/a.rb:3 run"],
        );
        check(
            "   at Sea.Walrus.Sink(Int32 depth) in C:\\src\\Walrus.cs:line 12",
            &["C:/src/Walrus.cs:12 Sink"],
        );
        check(
            "#0 /app/src/Walrus.php(12): Sea\\Walrus->sink()",
            &["/app/src/Walrus.php:12 sink"],
        );
        check(
            "--- FAIL: TestSink\n    walrus_test.go:12: got 1, want 2",
            &["walrus_test.go:12"],
        );
        check(
            "see https://github.com/a/b/blob/main/src/walrus.py#L12-L20",
            &["src/walrus.py:12"],
        );
    }
}
