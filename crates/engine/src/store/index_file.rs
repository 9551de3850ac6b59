//! A file of a segment: verified when it is opened, and read without a memory map.
//!
//! tantivy writes such a file once, with a checksum at its end, and then only reads it.
//!
//! Invariant: bytes are those whose checksum was verified. They are in memory, or the file still has the size
//! and the time of then when they are read. The time is that of the content (`mtime`): another process that
//! deletes the file changes the other one.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use tantivy::HasLen;
use tantivy::directory::footer::Footer;
use tantivy::directory::{FileHandle, FileSlice, OwnedBytes};

/// An open file of a segment.
#[derive(Debug)]
pub(super) struct IndexFile {
    content: Content,
    bytes: usize,
}

#[derive(Debug)]
enum Content {
    /// Small, or read as a whole for every query.
    Copied(OwnedBytes),
    /// Read in parts: stored entries.
    OnDisk(Arc<DiskFile>),
    /// The same, and the last parts are remembered: lists of documents.
    Remembered(Arc<DiskFile>, Cache<Range<usize>, OwnedBytes, PartWeight>),
}

/// Weighs a part of a file by its bytes.
#[derive(Clone, Debug)]
struct PartWeight;

impl Weighter<Range<usize>, OwnedBytes> for PartWeight {
    fn weight(&self, range: &Range<usize>, _: &OwnedBytes) -> u64 {
        range.len() as u64 + 64
    }
}

/// A file that is read in parts, and its state when it was verified.
#[derive(Debug)]
struct DiskFile {
    file: File,
    bytes: usize,
    modified: Option<SystemTime>,
}

/// Smaller files are copied: they cost less than a file that stays open.
const MAX_COPIED_BYTES: usize = 128 << 10;

/// Files that are copied whatever their size. tantivy reads the words of a field as a whole with each new
/// reader, and the lengths of all texts and the columns of keys and dates with each query. For 284,000 chunks
/// they take 17 of 141 MB.
const COPIED_EXTENSIONS: [&str; 3] = ["term", "fieldnorm", "fast"];

/// The extension of files with lists of documents. A query reads each list twice, and the next query often
/// has some of the same words.
const LISTS_EXTENSION: &str = "idx";

/// Bytes of lists that are remembered for one file.
const MAX_REMEMBERED_BYTES: u64 = 512 << 10;

/// Lists that are remembered for one file, as an estimate for the cache.
const REMEMBERED_LISTS: usize = 64;

/// Bytes of the length and the magic number at the end of a footer.
const MIN_FOOTER_BYTES: usize = 8;

/// Bytes that are read at a time to verify a file.
const VERIFIED_BYTES: usize = 256 << 10;

impl IndexFile {
    /// Opens a file and verifies its checksum.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = DiskFile::new(open_to_read(path)?)?;
        let bytes = file.bytes;
        let extension = path.extension().unwrap_or_default();
        let is_copied =
            bytes <= MAX_COPIED_BYTES || COPIED_EXTENSIONS.iter().any(|copied| extension == *copied);
        let content = if is_copied {
            Content::Copied(file.read_bytes(0..bytes)?)
        } else if extension == LISTS_EXTENSION {
            let cache = Cache::with_weighter(REMEMBERED_LISTS, MAX_REMEMBERED_BYTES, PartWeight);
            Content::Remembered(Arc::new(file), cache)
        } else {
            Content::OnDisk(Arc::new(file))
        };
        verify(match &content {
            Content::Copied(copy) => FileSlice::new(Arc::new(copy.clone())),
            Content::OnDisk(file) | Content::Remembered(file, _) => FileSlice::new(file.clone()),
        })?;
        Ok(Self { content, bytes })
    }
}

impl FileHandle for IndexFile {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        match &self.content {
            Content::Copied(bytes) if range.start <= range.end && range.end <= bytes.len() => {
                Ok(bytes.slice(range))
            }
            Content::Copied(_) => Err(damaged("it is shorter than it says")),
            Content::OnDisk(file) => file.read_bytes(range),
            Content::Remembered(file, cache) => {
                if let Some(bytes) = cache.get(&range) {
                    file.check_unchanged()?;
                    return Ok(bytes);
                }
                let bytes = file.read_bytes(range.clone())?;
                cache.insert(range, bytes.clone());
                Ok(bytes)
            }
        }
    }
}

impl HasLen for IndexFile {
    fn len(&self) -> usize {
        self.bytes
    }
}

impl DiskFile {
    fn new(file: File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        Ok(Self {
            bytes: usize::try_from(metadata.len()).map_err(io::Error::other)?,
            modified: metadata.modified().ok(),
            file,
        })
    }

    fn check_unchanged(&self) -> io::Result<()> {
        let metadata = self.file.metadata()?;
        if metadata.len() == self.bytes as u64 && metadata.modified().ok() == self.modified {
            Ok(())
        } else {
            Err(damaged("it has changed since it was written"))
        }
    }
}

impl FileHandle for DiskFile {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        if range.start > range.end || range.end > self.bytes {
            return Err(damaged("it is shorter than it says"));
        }
        let mut buffer = vec![0; range.len()];
        read_exact_at(&self.file, &mut buffer, range.start as u64).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => damaged("it was cut off"),
            _ => error,
        })?;
        // After reading, so that a change in between is noticed.
        self.check_unchanged()?;
        Ok(OwnedBytes::new(buffer))
    }
}

impl HasLen for DiskFile {
    fn len(&self) -> usize {
        self.bytes
    }
}

/// Compares a file with the checksum at its end.
fn verify(file: FileSlice) -> io::Result<()> {
    // tantivy subtracts these bytes without a check.
    if file.len() < MIN_FOOTER_BYTES {
        return Err(damaged("it was cut off"));
    }
    let (footer, body) = Footer::extract_footer(file)?;
    let mut hasher = crc32fast::Hasher::new();
    let mut at = 0;
    while at < body.len() {
        let end = body.len().min(at + VERIFIED_BYTES);
        hasher.update(&body.read_bytes_slice(at..end)?);
        at = end;
    }
    if hasher.finalize() == footer.crc {
        Ok(())
    } else {
        Err(damaged("its checksum is wrong"))
    }
}

/// An error without a code of the operating system, which the store takes for damage.
fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("a file of the index: {what}"))
}

#[expect(clippy::disallowed_methods, reason = "a file of the cache, not of a project")]
fn open_to_read(path: &Path) -> io::Result<File> {
    File::open(path)
}

#[cfg(unix)]
fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        let count = std::os::windows::fs::FileExt::seek_read(file, buffer, offset)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        offset += count as u64;
        buffer = &mut buffer[count..];
    }
    Ok(())
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
