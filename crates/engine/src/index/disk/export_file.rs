//! The file that carries an index from one machine to another.
//!
//! A first line names the format. Then blocks follow, each with a line of its name, length and SHA-256 before
//! its bytes. The last kind of block is the manifest, which lists the blocks of one export. A later export
//! to the same file appends the blocks that are not there yet and a new manifest, so that segments that did
//! not change are stored once. Bytes behind the last whole manifest are those of an export that was
//! interrupted.
//!
//! Invariant: nothing is taken from a block whose bytes do not have the hash of its manifest, and nothing is
//! written under a name that an index does not have.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The first line, with the version of this format.
const FIRST_LINE: &str = "docent index export 1\n";

/// The name of the blocks that list an export.
const MANIFEST: &str = "manifest";

/// Bytes of the line before a block, and of a manifest.
const MAX_LINE_BYTES: usize = 300;
const MAX_MANIFEST_BYTES: u64 = 4 << 20;

/// Bytes of a file of an index.
const MAX_BLOCK_BYTES: u64 = 8 << 30;

/// Why an export cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum ExportFileError {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("it is no export of an index, or of another version of docent")]
    NotAnExport,
    #[error("it is damaged: {0}")]
    Damaged(String),
}

/// The blocks of one export.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::index) struct Manifest {
    /// The version of the index format.
    pub(in crate::index) format: u32,
    /// The hash of the options by which the index was built.
    pub(in crate::index) rules: String,
    /// The numbers of the newest commits of the stores, by corpus.
    pub(in crate::index) commits: Vec<(String, u64)>,
    pub(in crate::index) blocks: Vec<Block>,
}

/// A file of the index, inside the export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::index) struct Block {
    pub(in crate::index) name: String,
    length: u64,
    sha256: String,
    /// Where its bytes begin.
    offset: u64,
}

impl Block {
    pub(in crate::index) fn length(&self) -> u64 {
        self.length
    }
}

/// An export that is being written.
pub(in crate::index) struct ExportWriter {
    file: BufWriter<File>,
    /// Where the next block begins.
    end: u64,
    /// Blocks of earlier exports, by their hash.
    earlier: HashMap<String, Block>,
    blocks: Vec<Block>,
}

impl ExportWriter {
    /// Begins an export, behind those that the file has.
    pub(in crate::index) fn append_to(path: &Path) -> Result<Self, ExportFileError> {
        let mut options = OpenOptions::new();
        let mut file = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)?;
        let mut earlier = HashMap::new();
        let end = if file.metadata()?.len() == 0 {
            file.write_all(FIRST_LINE.as_bytes())?;
            FIRST_LINE.len() as u64
        } else {
            let found = scan(&mut file)?;
            earlier.extend(
                found
                    .blocks
                    .into_iter()
                    .map(|block| (block.sha256.clone(), block)),
            );
            found.end
        };
        file.set_len(end)?;
        file.seek(SeekFrom::Start(end))?;
        Ok(Self {
            file: BufWriter::new(file),
            end,
            earlier,
            blocks: Vec::new(),
        })
    }

    /// Adds a block. Nothing is written if an earlier export has one with the same bytes.
    pub(in crate::index) fn add(&mut self, name: &str, bytes: &[u8]) -> Result<(), ExportFileError> {
        let sha256 = hex(&Sha256::digest(bytes));
        let offset = match self.earlier.get(&sha256) {
            Some(block) if block.length == bytes.len() as u64 => block.offset,
            _ => self.write(name, &sha256, bytes)?,
        };
        self.blocks.push(Block {
            name: name.to_owned(),
            length: bytes.len() as u64,
            sha256,
            offset,
        });
        Ok(())
    }

    /// Ends the export, and returns the digest of its manifest and the size of the file.
    pub(in crate::index) fn finish(mut self, manifest: Manifest) -> Result<(String, u64), ExportFileError> {
        let manifest = Manifest {
            blocks: std::mem::take(&mut self.blocks),
            ..manifest
        };
        let bytes = serde_json::to_vec(&manifest).map_err(io::Error::from)?;
        let digest = hex(&Sha256::digest(&bytes));
        self.write(MANIFEST, &digest, &bytes)?;
        self.file.flush()?;
        Ok((digest, self.end))
    }

    /// Writes a block, and returns where its bytes begin.
    fn write(&mut self, name: &str, sha256: &str, bytes: &[u8]) -> Result<u64, ExportFileError> {
        let line = format!("{name} {} {sha256}\n", bytes.len());
        self.file.write_all(line.as_bytes())?;
        self.file.write_all(bytes)?;
        let offset = self.end + line.len() as u64;
        self.end = offset + bytes.len() as u64;
        Ok(offset)
    }
}

/// An export that is read.
pub(in crate::index) struct ExportReader {
    file: File,
    pub(in crate::index) manifest: Manifest,
    /// The SHA-256 of the manifest, which has those of all blocks.
    pub(in crate::index) digest: String,
}

impl ExportReader {
    /// Reads the newest manifest of a file.
    pub(in crate::index) fn open(path: &Path) -> Result<Self, ExportFileError> {
        let mut file = OpenOptions::new().read(true).open(path)?;
        let found = scan(&mut file)?;
        let (digest, bytes) = found
            .manifest
            .ok_or_else(|| ExportFileError::Damaged("it ends before its manifest".into()))?;
        let manifest: Manifest = serde_json::from_slice(&bytes)
            .map_err(|_| ExportFileError::Damaged("its manifest cannot be read".into()))?;
        Ok(Self {
            file,
            manifest,
            digest,
        })
    }

    /// Hands the bytes of a block to `take`, and then compares their hash.
    pub(in crate::index) fn read(
        &mut self,
        block: &Block,
        out: &mut dyn Write,
    ) -> Result<(), ExportFileError> {
        self.file.seek(SeekFrom::Start(block.offset))?;
        let mut part = BufReader::new(&mut self.file).take(block.length);
        let mut hash = Sha256::new();
        let mut buffer = vec![0; 1 << 16];
        let mut left = block.length;
        while left > 0 {
            let count = part.read(&mut buffer)?;
            if count == 0 {
                break;
            }
            hash.update(&buffer[..count]);
            out.write_all(&buffer[..count])?;
            left -= count as u64;
        }
        if left > 0 || hex(&hash.finalize()) != block.sha256 {
            return Err(ExportFileError::Damaged(format!(
                "{} is not as it was written",
                block.name
            )));
        }
        Ok(())
    }

    /// Writes the block of a file of the index into a directory.
    pub(in crate::index) fn unpack(
        &mut self,
        block: &Block,
        directory: &Path,
    ) -> Result<(), ExportFileError> {
        if !is_index_file(&block.name) {
            return Err(ExportFileError::Damaged("it has a file that no index has".into()));
        }
        let mut options = OpenOptions::new();
        let file = options
            .write(true)
            .create_new(true)
            .open(directory.join(&block.name))?;
        let mut out = BufWriter::new(file);
        let outcome = self.read(block, &mut out);
        out.flush()?;
        outcome.inspect_err(|_| {
            let _ = fs::remove_file(directory.join(&block.name));
        })
    }
}

/// What a file of exports has.
struct ScannedFile {
    /// Every block that can be read.
    blocks: Vec<Block>,
    /// Where the last manifest ends.
    end: u64,
    /// The last manifest, and its hash.
    manifest: Option<(String, Vec<u8>)>,
}

/// Reads the lines of all blocks, and the last manifest.
fn scan(file: &mut File) -> Result<ScannedFile, ExportFileError> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(0))?;
    let mut first = vec![0; FIRST_LINE.len()];
    if file.read_exact(&mut first).is_err() || first != FIRST_LINE.as_bytes() {
        return Err(ExportFileError::NotAnExport);
    }
    let mut found = ScannedFile {
        blocks: Vec::new(),
        end: FIRST_LINE.len() as u64,
        manifest: None,
    };
    let mut pending = Vec::new();
    let mut at = found.end;
    while let Some((block, behind)) = read_line(file, at)? {
        at = block.offset.saturating_add(block.length);
        if block.length > MAX_BLOCK_BYTES || at > length {
            break;
        }
        if block.name != MANIFEST {
            pending.push(block);
            continue;
        }
        if block.length > MAX_MANIFEST_BYTES {
            break;
        }
        file.seek(SeekFrom::Start(behind))?;
        let mut bytes = Vec::new();
        file.take(block.length).read_to_end(&mut bytes)?;
        if hex(&Sha256::digest(&bytes)) != block.sha256 {
            break;
        }
        found.blocks.append(&mut pending);
        found.manifest = Some((block.sha256, bytes));
        found.end = at;
    }
    Ok(found)
}

/// The line of a block at `at`, and where it ends. `None` if no line is there.
fn read_line(file: &mut File, at: u64) -> io::Result<Option<(Block, u64)>> {
    file.seek(SeekFrom::Start(at))?;
    let mut bytes = Vec::new();
    file.take(MAX_LINE_BYTES as u64).read_to_end(&mut bytes)?;
    let Some(line) = memchr::memchr(b'\n', &bytes).and_then(|end| std::str::from_utf8(&bytes[..end]).ok())
    else {
        return Ok(None);
    };
    let mut words = line.split(' ');
    let (Some(name), Some(length), Some(sha256), None) = (
        words.next(),
        words.next().and_then(|length| length.parse().ok()),
        words.next(),
        words.next(),
    ) else {
        return Ok(None);
    };
    let offset = at + line.len() as u64 + 1;
    let block = Block {
        name: name.to_owned(),
        length,
        sha256: sha256.to_owned(),
        offset,
    };
    Ok(Some((block, offset)))
}

/// Whether a name is that of a file of an index: segments and their lists, for chunks and for pages.
fn is_index_file(name: &str) -> bool {
    const EXTENSIONS: [&str; 7] = ["idx", "pos", "term", "store", "fast", "fieldnorm", "del"];
    let name = name.strip_prefix("pages/").unwrap_or(name);
    if matches!(name, "meta.json" | ".managed.json") {
        return true;
    }
    let mut parts = name.split('.');
    let (Some(segment), Some(extension)) = (parts.next(), parts.next_back()) else {
        return false;
    };
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_number(segment) && parts.all(is_number) && EXTENSIONS.contains(&extension)
}

fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits
        .map(|digit| char::from_digit(digit.into(), 16).expect("four bits are a digit"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, blocks: &[(&str, &[u8])]) -> (String, u64) {
        let mut writer = ExportWriter::append_to(path).unwrap();
        for (name, bytes) in blocks {
            writer.add(name, bytes).unwrap();
        }
        writer.finish(Manifest::default()).unwrap()
    }

    fn read_all(path: &Path) -> Result<Vec<(String, Vec<u8>)>, ExportFileError> {
        let mut reader = ExportReader::open(path)?;
        let blocks = reader.manifest.blocks.clone();
        let read = |block: &Block| {
            let mut bytes = Vec::new();
            reader.read(block, &mut bytes)?;
            Ok((block.name.clone(), bytes))
        };
        blocks.iter().map(read).collect()
    }

    #[test]
    fn a_second_export_appends_what_is_new() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index.export");
        let segment = vec![7; 5_000];
        let (first, size) = write(&path, &[("a.term", &segment), ("meta.json", b"1")]);
        let (second, larger) = write(&path, &[("b.term", &segment), ("meta.json", b"2")]);
        assert_ne!(first, second);
        assert!(larger < size + 2_000, "{size} {larger}");
        let expected = [
            ("b.term".to_owned(), segment),
            ("meta.json".to_owned(), b"2".to_vec()),
        ];
        assert_eq!(read_all(&path).unwrap(), expected);
    }

    #[test]
    fn an_interrupted_export_leaves_the_one_before_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index.export");
        let (_, size) = write(&path, &[("meta.json", b"first")]);
        let (_, larger) = write(&path, &[("meta.json", b"second")]);
        for length in size..larger {
            #[expect(clippy::disallowed_methods, reason = "a file of the test")]
            let bytes = fs::read(&path).unwrap();
            let cut = folder.path().join("cut.export");
            fs::write(&cut, &bytes[..usize::try_from(length).unwrap()]).unwrap();
            assert_eq!(
                read_all(&cut).unwrap(),
                [("meta.json".to_owned(), b"first".to_vec())]
            );
            // Another export goes on from there.
            write(&cut, &[("meta.json", b"third")]);
            assert_eq!(
                read_all(&cut).unwrap(),
                [("meta.json".to_owned(), b"third".to_vec())]
            );
        }
    }

    #[test]
    fn a_changed_byte_is_damage() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index.export");
        write(&path, &[("a.term", b"segment"), ("meta.json", b"list")]);
        #[expect(clippy::disallowed_methods, reason = "a file of the test")]
        let bytes = fs::read(&path).unwrap();
        let expected = read_all(&path).unwrap();
        let mut refused = 0;
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 4;
            fs::write(&path, &changed).unwrap();
            match read_all(&path) {
                // A byte that says nothing, such as the name in the line before a segment.
                Ok(blocks) => assert_eq!(blocks, expected, "{at}"),
                Err(_) => refused += 1,
            }
        }
        assert!(refused > bytes.len() / 2);
    }

    #[test]
    fn only_names_of_an_index_are_unpacked() {
        for name in [
            "0a1b.term",
            "pages/0a1b.idx",
            "pages/meta.json",
            ".managed.json",
            "0a1b.12.del",
        ] {
            assert!(is_index_file(name), "{name}");
        }
        for name in [
            "",
            "..",
            "../a.term",
            "/a.term",
            "a/b.term",
            "pages/../a.term",
            ".term",
            "files.db",
            "a b.idx",
        ] {
            assert!(!is_index_file(name), "{name}");
        }
    }
}
