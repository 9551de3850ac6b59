//! What docent would have saved in past sessions.
//!
//! Left out: what its answers would have been. Commands are counted as rewritten or not; the characters that
//! `docent sh` saves depend on files that are not there any more.
//!
//! Invariant: only numbers, names of programs and reasons come out of it.

mod transcript;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::Duration;

use docent_core::path::RepoPath;
use docent_engine::clock::Stopwatch;
use docent_engine::files::Root;
use serde_json::{Value, json};

use crate::hook::{FileHead, describe_head, is_outlined};
use crate::markdown::length;
use crate::settings::Environment;
use crate::shell::rewrite::rewrite_line;
use transcript::{PastCall, PastTool, TranscriptReader};

/// What kind of call gave how many characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CallSum {
    pub(crate) calls: u64,
    pub(crate) chars: u64,
}

/// The sums of past sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReplayCounts {
    pub(crate) transcripts: u64,
    pub(crate) all: CallSum,
    pub(crate) reads: CallSum,
    pub(crate) searches: CallSum,
    pub(crate) git: CallSum,
    /// Reads of a whole file, with the client's own tool.
    pub(crate) whole_reads: CallSum,
    /// Those of source files that the Read hook takes for large.
    pub(crate) large_reads: CallSum,
    /// Characters that the Read hook would have saved.
    pub(crate) large_reads_saved: u64,
    /// Large reads whose outline was estimated, because the file is not there as it was.
    pub(crate) outlines_estimated: u64,
    /// Command lines with a program that docent answers, and those of them that would be rewritten, by
    /// program.
    pub(crate) lines: BTreeMap<String, [u64; 2]>,
    /// Why commands would be left alone: program and reason.
    pub(crate) left_alone: BTreeMap<(String, String), u64>,
}

/// Adds up sessions.
pub(crate) struct Replay<'a> {
    counts: ReplayCounts,
    reader: TranscriptReader,
    /// The project whose files are outlined. Others are estimated.
    root: &'a Root,
    /// Lines above which a file is large.
    max_lines: usize,
    /// A line that is rewritten in a directory that is gone is read as if it were run here.
    here: PathBuf,
    environment: Environment<'a>,
}

const READERS: [&str; 7] = ["cat", "sed", "head", "tail", "nl", "less", "bat"];

const SEARCHERS: [&str; 10] = [
    "grep", "egrep", "fgrep", "rg", "ag", "find", "fd", "fdfind", "ls", "tree",
];

/// Lines of the head of a file that is gone.
const ESTIMATED_HEAD_LINES: usize = 120;

/// Characters of an outline that had to be estimated, per line of its file, and at most.
const ESTIMATED_OUTLINE_CHARS: [usize; 2] = [3, 4_000];

/// Lines that a session reads of a file before it edits it, if it was shown an outline.
const LINES_READ_TO_EDIT: u64 = 200;

impl<'a> Replay<'a> {
    pub(crate) fn new(root: &'a Root, max_lines: usize, environment: Environment<'a>) -> Self {
        Self {
            counts: ReplayCounts::default(),
            reader: TranscriptReader::default(),
            root,
            max_lines,
            here: root.path().to_owned(),
            environment,
        }
    }

    /// Adds the session of a transcript.
    pub(crate) fn add(&mut self, transcript: &str) {
        let calls = self.reader.read(transcript);
        self.counts.transcripts += 1;
        for call in &calls {
            self.add_call(call);
        }
        self.add_whole_reads(&calls);
    }

    pub(crate) fn finish(self) -> ReplayCounts {
        self.counts
    }

    fn add_call(&mut self, call: &PastCall) {
        let chars = length(&call.result) as u64;
        self.counts.all.add(chars);
        match &call.tool {
            PastTool::Read { is_whole, .. } => {
                self.counts.reads.add(chars);
                if *is_whole {
                    self.counts.whole_reads.add(chars);
                }
            }
            PastTool::Search => self.counts.searches.add(chars),
            PastTool::Shell { line } => self.add_line(line, &call.directory, chars),
            PastTool::Edit { .. } | PastTool::Other => {}
        }
    }

    fn add_line(&mut self, line: &str, directory: &Path, chars: u64) {
        let program = first_program(line);
        match program {
            _ if READERS.contains(&program) => self.counts.reads.add(chars),
            _ if SEARCHERS.contains(&program) => self.counts.searches.add(chars),
            "git" => self.counts.git.add(chars),
            _ => {}
        }
        if !SEARCHERS.contains(&program) && program != "git" {
            return;
        }
        let directory = if directory.is_dir() { directory } else { &self.here };
        let rewrite = rewrite_line(line, directory, "docent", self.environment);
        let [all, rewritten] = self.counts.lines.entry(program.to_owned()).or_default();
        *all += 1;
        *rewritten += u64::from(rewrite.line.is_some());
        for reason in rewrite.left_alone {
            *self.counts.left_alone.entry(reason).or_default() += 1;
        }
    }

    /// Adds what the Read hook would have done with the first read of each large file.
    fn add_whole_reads(&mut self, calls: &[PastCall]) {
        let mut first_reads: HashMap<&Path, usize> = HashMap::new();
        for (at, call) in calls.iter().enumerate() {
            if let PastTool::Read { path, is_whole: true } = &call.tool
                && is_code(path)
                && call.result.lines().count() > self.max_lines
            {
                first_reads.entry(path).or_insert(at);
            }
        }
        for (path, at) in first_reads {
            let result = &calls[at].result;
            let lines = result.lines().count();
            let chars = length(result) as u64;
            self.counts.large_reads.add(chars);
            let (head_lines, outline_chars) = self.describe_head(path, lines);
            let head: usize = result.split_inclusive('\n').take(head_lines).map(length).sum();
            let mut shown = (head + outline_chars) as u64;
            let is_edited = calls[at..]
                .iter()
                .any(|call| matches!(&call.tool, PastTool::Edit { path: edited } if edited == path));
            if is_edited {
                shown += chars * LINES_READ_TO_EDIT / lines.max(1) as u64;
            }
            self.counts.large_reads_saved += chars.saturating_sub(shown);
        }
    }

    /// The lines of the head of a file, and the characters of its outline. Names that a session has searched
    /// for are not known here, so that nothing is folded.
    fn describe_head(&mut self, path: &Path, lines: usize) -> (usize, usize) {
        let [per_line, most] = ESTIMATED_OUTLINE_CHARS;
        let head = || {
            let path = self.root.relative(path)?;
            let content = self.root.read(&path, 2 * 1024 * 1024).ok()?;
            let text = String::from_utf8(content.bytes).ok()?;
            // A file that has changed much since would have another outline.
            (text.lines().count().abs_diff(lines) <= lines / 10)
                .then(|| describe_head(self.root, &path, &text, &|_| false))
                .flatten()
        };
        if let Some(FileHead { lines, context }) = head() {
            return (lines, length(&context));
        }
        self.counts.outlines_estimated += 1;
        (ESTIMATED_HEAD_LINES, (lines * per_line).min(most))
    }
}

impl CallSum {
    fn add(&mut self, chars: u64) {
        self.calls += 1;
        self.chars += chars;
    }

    fn json(self) -> Value {
        json!({ "calls": self.calls, "chars": self.chars })
    }
}

impl ReplayCounts {
    pub(crate) fn json(&self) -> Value {
        let lines = self.lines.iter().map(
            |(program, [all, rewritten])| json!({ "program": program, "lines": all, "rewritten": rewritten }),
        );
        let left_alone = self.left_alone.iter().map(
            |((program, reason), calls)| json!({ "program": program, "reason": reason, "calls": calls }),
        );
        json!({
            "transcripts": self.transcripts,
            "all": self.all.json(),
            "reads": self.reads.json(),
            "searches": self.searches.json(),
            "git": self.git.json(),
            "wholeReads": self.whole_reads.json(),
            "largeReads": self.large_reads.json(),
            "largeReadsSaved": self.large_reads_saved,
            "outlinesEstimated": self.outlines_estimated,
            "lines": lines.collect::<Vec<_>>(),
            "leftAlone": left_alone.collect::<Vec<_>>(),
        })
    }
}

/// Reads transcripts, the newest first, until the time is over. Those that cannot be read are skipped.
/// Returns the sums, and how many were left out for want of time.
pub(crate) fn replay_files(
    mut replay: Replay<'_>,
    files: &[PathBuf],
    time: (Stopwatch, Duration),
) -> (ReplayCounts, usize) {
    for (at, file) in files.iter().enumerate() {
        if time.0.elapsed() > time.1 {
            return (replay.finish(), files.len() - at);
        }
        if let Ok(Some(text)) = docent_engine::files::read_own(file) {
            replay.add(&text);
        }
    }
    (replay.finish(), 0)
}

/// Whether a file of this name is one that the Read hook answers.
fn is_code(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.and_then(|name| RepoPath::parse(name).ok())
        .is_some_and(|name| is_outlined(&name))
}

/// The first program of a line, behind `cd DIRECTORY &&`. Only to sort lines by it.
fn first_program(line: &str) -> &str {
    let mut rest = line.trim_start();
    while let Some(after) = rest.strip_prefix("cd ")
        && let Some((_, next)) = after.split_once("&&").or_else(|| after.split_once(';'))
    {
        rest = next.trim_start();
    }
    rest.split([' ', '\t', '\n', ';', '|', '&', '(', ')'])
        .next()
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use docent_core::access::Access;

    use super::*;

    #[test]
    fn the_program_of_a_line_is_behind_cd() {
        for (line, program) in [
            ("grep -rn a .", "grep"),
            ("cd /a/b && cd c; rg x | head", "rg"),
            ("cd /a", "cd"),
            ("  git log", "git"),
            ("", ""),
        ] {
            assert_eq!(first_program(line), program, "{line}");
        }
    }

    #[test]
    fn large_whole_reads_are_counted_with_what_the_hook_would_show() {
        let folder = tempfile::tempdir().unwrap();
        let text = "fn walrus() {\n    dive();\n}\n".repeat(300);
        std::fs::write(folder.path().join("a.rs"), &text).unwrap();
        let root = Root::open(folder.path(), Access::new([]).unwrap()).unwrap();
        let path = |name: &str| root.path().join(name);
        let read = |name: &str, id: &str, input: Value| {
            let mut input = input;
            input["file_path"] = path(name).display().to_string().into();
            [
                json!({ "message": { "content": [{ "type": "tool_use", "id": id, "name": "Read", "input": input }] } }),
                json!({ "message": { "content": [{ "type": "tool_result", "tool_use_id": id, "content": text }] } }),
            ]
        };
        let calls = [
            read("a.rs", "1", json!({})),
            read("a.rs", "2", json!({})),
            read("a.rs", "3", json!({ "offset": 10 })),
            read("gone.rs", "4", json!({})),
            read("a.md", "5", json!({})),
        ];
        let transcript = calls
            .concat()
            .iter()
            .map(Value::to_string)
            .collect::<Vec<_>>()
            .join("\n");
        let mut replay = Replay::new(&root, 600, &|_| None);
        replay.add(&transcript);
        let counts = replay.finish();
        let chars = text.len() as u64;
        assert_eq!(
            counts.reads,
            CallSum {
                calls: 5,
                chars: 5 * chars
            }
        );
        assert_eq!(
            counts.whole_reads,
            CallSum {
                calls: 4,
                chars: 4 * chars
            }
        );
        assert_eq!(
            counts.large_reads,
            CallSum {
                calls: 2,
                chars: 2 * chars
            }
        );
        assert_eq!(counts.outlines_estimated, 1);
        let path = RepoPath::parse("a.rs").unwrap();
        let head = describe_head(&root, &path, &text, &|_| false).unwrap();
        let chars_of =
            |lines: usize| length(&text.split_inclusive('\n').take(lines).collect::<String>()) as u64;
        let known = chars_of(head.lines) + length(&head.context) as u64;
        let estimated = chars_of(ESTIMATED_HEAD_LINES) + 2_700;
        assert_eq!(counts.large_reads_saved, 2 * chars - known - estimated);
        assert_eq!(counts.json()["largeReads"]["calls"], 2);
    }
}
