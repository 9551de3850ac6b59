//! Everything there is to say about an index, for people who wonder.

use std::collections::BTreeMap;
use std::path::Path;

use super::known::Known;
use super::watch::{WatchError, Watcher};
use super::{Corpus, IndexStatus, Shared};
use crate::walk::WalkExtent;

impl Shared {
    /// Looks at the files and at what is stored; changes no index.
    pub(super) fn status(&self) -> IndexStatus {
        let mut known = Known::default();
        known.survey(self, &WalkExtent::Everything);
        let mut status = IndexStatus {
            writer: self.place.writer(),
            others: self.place.others(),
            unnameable: known.unnameable,
            ..IndexStatus::default()
        };
        let opened = match self.place.current().map(|_| self.place.open()) {
            None => None,
            Some(Ok(opened)) => Some(opened),
            Some(Err(error)) => {
                known.troubles.push(format!("The index cannot be read: {error}"));
                None
            }
        };
        if let Some(opened) = &opened {
            let read = opened.verify().and_then(|()| known.read_table(opened));
            if let Err(error) = read {
                known.troubles.push(format!("The index cannot be read: {error}"));
            }
            status.chunks = opened.chunks.chunks().unwrap_or_default();
            status.sections = opened.sections.count();
            status.bytes_on_disk = opened.size();
            status.folder = opened.directory().map(Path::to_owned);
        }
        status.is_unreadable = !known.troubles.is_empty();
        if let Some(error) = self.place.hindrance() {
            status.is_unwritable = true;
            known
                .troubles
                .push(format!("The index cannot be written ({error})"));
        }
        if let Some(opened) = &opened
            && let Ok(Some(damage)) = opened.table().fact("damage")
        {
            known
                .troubles
                .push(format!("The index was damaged ({damage}) and was built anew"));
        }
        status.pages = known.indexed_pages.len();
        status.indexed = known.indexed.values().filter(|row| row.chunks > 0).count();
        let mut languages: BTreeMap<&str, usize> = BTreeMap::new();
        let mut notes: BTreeMap<&str, (usize, Vec<String>)> = BTreeMap::new();
        for (path, row) in &known.indexed {
            if row.chunks > 0 {
                *languages.entry(&row.language).or_default() += 1;
            }
            if let Some(note) = &row.note {
                let (count, named) = notes.entry(note).or_default();
                *count += 1;
                if named.len() < 3 {
                    named.push(path.as_str().to_owned());
                }
            }
        }
        status.languages = languages
            .into_iter()
            .map(|(name, count)| (name.to_owned(), count))
            .collect();
        status
            .languages
            .sort_by_key(|(name, count)| (std::cmp::Reverse(*count), name.clone()));
        status.notes = notes
            .into_iter()
            .map(|(note, (count, named))| (note.to_owned(), count, named))
            .collect();
        // Files that were read within a tick of their last change are compared by content next time; until then they count as known.
        for (path, stamp) in &mut known.files {
            if let Some(row) = known.indexed.get(path)
                && row.stamp.is_unsettled()
                && (row.stamp.size, row.stamp.modified) == (stamp.size, stamp.modified)
            {
                *stamp = row.stamp;
            }
        }
        status.freshness = known.freshness(Corpus::Code);
        status
    }

    /// Tries to watch all of the project, and says how many directories that are.
    pub(super) fn try_watching(&self) -> Result<usize, WatchError> {
        let mut known = Known::default();
        known.survey(self, &WalkExtent::Everything);
        let folder = self.place.project.clone().unwrap_or_default();
        let directories = known.directories();
        Watcher::over(self.root.path(), &directories, &folder, Box::new(|| {}))?;
        Ok(directories.len())
    }
}
