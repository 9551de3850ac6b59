//! Questions about single objects, answered by one `git cat-file` that stays open: what a reference means, what a file
//! held in a commit. A fresh process for each would cost more than most answers do.
//!
//! Invariant: a question is one line; names with line ends or control characters never get here.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread;

use super::GitError;
use super::command::{Killed, Runner, TICK, remember, spawn};
use crate::deadline::Deadline;

/// The object database of one repository.
#[derive(Debug)]
pub(super) struct Objects {
    runner: Runner,
    names: Mutex<Option<Batch>>,
    contents: Mutex<Option<Batch>>,
}

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ResolvedObject {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) size: u64,
}

/// A running `cat-file` and the thread that reads from it.
#[derive(Debug)]
struct Batch {
    child: Arc<Mutex<Killed>>,
    stdin: ChildStdin,
    replies: Receiver<(String, Vec<u8>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WantedObject {
    Names,
    Contents,
}

/// Objects larger than this are not asked for.
pub(super) const MAX_OBJECT_BYTES: u64 = 16 << 20;

impl Objects {
    pub(super) fn new(runner: Runner) -> Self {
        Self {
            runner,
            names: Mutex::default(),
            contents: Mutex::default(),
        }
    }

    /// The object that `name` stands for, if there is one.
    pub(super) fn find(&self, name: &str, deadline: &Deadline) -> Result<Option<ResolvedObject>, GitError> {
        let (header, _) = self.ask(WantedObject::Names, name, deadline)?;
        Ok(ResolvedObject::parse(&header))
    }

    /// The content of the object that `name` stands for, which has been found before.
    pub(super) fn content(&self, id: &str, deadline: &Deadline) -> Result<Vec<u8>, GitError> {
        let (_, content) = self.ask(WantedObject::Contents, id, deadline)?;
        Ok(content)
    }

    fn ask(
        &self,
        wanted: WantedObject,
        name: &str,
        deadline: &Deadline,
    ) -> Result<(String, Vec<u8>), GitError> {
        let place = match wanted {
            WantedObject::Names => &self.names,
            WantedObject::Contents => &self.contents,
        };
        let mut place = place.lock().expect("nothing panics while it holds the process");
        let known = place.take();
        let was_open = known.is_some();
        let mut batch = known.map_or_else(|| Batch::open(&self.runner, wanted), Ok)?;
        let reply = match batch.ask(name, deadline) {
            // It may have died since it was last asked; a new one gets the question once.
            Err(GitError::Pipe(_)) if was_open => {
                batch = Batch::open(&self.runner, wanted)?;
                batch.ask(name, deadline)
            }
            reply => reply,
        }?;
        *place = Some(batch);
        Ok(reply)
    }
}

impl Batch {
    fn open(runner: &Runner, wanted: WantedObject) -> Result<Self, GitError> {
        let mut command: Command = runner.command("cat-file");
        command
            .arg(match wanted {
                WantedObject::Names => "--batch-check",
                WantedObject::Contents => "--batch",
            })
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = Killed(spawn(&mut command)?);
        let stdin = child.0.stdin.take().expect("it was piped");
        let mut stdout = BufReader::new(child.0.stdout.take().expect("it was piped"));
        let (send, replies) = mpsc::channel();
        // Ends with the process: the pipe closes when the child is killed.
        thread::spawn(move || {
            let mut header = String::new();
            while stdout.read_line(&mut header).is_ok_and(|read| read > 0) {
                let mut content = Vec::new();
                if wanted == WantedObject::Contents
                    && let Some(found) = ResolvedObject::parse(header.trim_end())
                {
                    let with_line_end = found.size + 1;
                    let read = stdout.by_ref().take(with_line_end).read_to_end(&mut content);
                    if read.is_err() || content.pop().is_none() {
                        break;
                    }
                }
                if send
                    .send((header.trim_end_matches('\n').to_owned(), content))
                    .is_err()
                {
                    break;
                }
                header.clear();
            }
        });
        let batch = Self {
            child: Arc::new(Mutex::new(child)),
            stdin,
            replies,
        };
        remember(&batch.child);
        Ok(batch)
    }

    fn ask(&mut self, name: &str, deadline: &Deadline) -> Result<(String, Vec<u8>), GitError> {
        writeln!(self.stdin, "{name}").map_err(GitError::Pipe)?;
        loop {
            match self.replies.recv_timeout(TICK) {
                Ok(reply) => return Ok(reply),
                Err(RecvTimeoutError::Timeout) => deadline.check()?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(GitError::Pipe(std::io::ErrorKind::BrokenPipe.into()));
                }
            }
        }
    }
}

impl ResolvedObject {
    /// `ID KIND SIZE`; anything else says that there is no such object.
    fn parse(header: &str) -> Option<Self> {
        let mut words = header.split(' ');
        let found = Self {
            id: words.next()?.to_owned(),
            kind: words.next()?.to_owned(),
            size: words.next()?.parse().ok()?,
        };
        (is_id(&found.id) && words.next().is_none()).then_some(found)
    }
}

/// A whole object id, of either hash.
pub(super) fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_header_names_an_object() {
        let id = "a".repeat(40);
        assert_eq!(
            ResolvedObject::parse(&format!("{id} commit 12")).unwrap().kind,
            "commit"
        );
        assert_eq!(ResolvedObject::parse("main^{commit} missing"), None);
        assert_eq!(ResolvedObject::parse("abc1 commit 12"), None);
        assert_eq!(ResolvedObject::parse(&format!("{id} commit 12 missing")), None);
    }
}
