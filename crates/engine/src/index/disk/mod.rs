//! The index on disk: a folder of the project's cache, with generations, a writer's lock and the table of
//! files.

mod cache_dir;
mod copied;
mod export_file;
mod generation;
mod key;
mod lock;
mod table;

pub(super) use cache_dir::CacheDir;
pub use copied::TransferError;
pub use export_file::ExportFileError;
pub(super) use generation::{CommitMark, FORMAT_VERSION, OpenIndex, table_error};
pub(super) use key::{CommitId, DocKey};
pub(super) use lock::WriterLock;
pub(super) use table::{FileTable, IndexedFile, NotedFile, TableChange};
