//! The chunks of a few files with the score of each word of a query, for ranking inside files.
//!
//! A search finds the best chunks of the project. Which function of a file answers is another question: it
//! needs all chunks of the file, also those that were not among the best of the project, and how many chunks
//! of that file have each word.
//!
//! Invariant: the chunks of a file are in the order of their lines, whatever the order of segments.

use tantivy::collector::DocSetCollector;
use tantivy::query::{BooleanQuery, EnableScoring, Occur, Query};
use tantivy::{DocAddress, Searcher, TantivyError};

use docent_core::chunk::ChunkKind;

use super::chunks::{EmbeddedChunks, KindStatistics, decode_chunk, word_query};
use super::embedded::{StoredBytes, catch_panics, exact_query};
use super::{ChunkHit, ChunkQuery, FileChunk, FileChunks, StoreError};

/// Chunks of one file that are read, those with most of the query's words first. Files that people write
/// have fewer that match.
const MAX_CHUNKS_PER_FILE: usize = 60;

/// A chunk before it is read.
struct ScoredAddress {
    address: DocAddress,
    /// By the words of the query.
    word_scores: Vec<f32>,
}

impl ScoredAddress {
    fn total(&self) -> f32 {
        self.word_scores.iter().sum()
    }
}

impl EmbeddedChunks {
    /// The chunks of each of these files. A file that is not in the store has none.
    pub(super) fn chunks_of_files(
        &self,
        query: &ChunkQuery<'_>,
        paths: &[&str],
    ) -> Result<Vec<FileChunks>, StoreError> {
        catch_panics(|| {
            let searcher = self.reader.searcher();
            let mut addresses: Vec<ScoredAddress> = Vec::new();
            let mut counts = Vec::with_capacity(paths.len());
            for path in paths {
                let found = self.addresses_of_file(&searcher, path, query.kinds)?;
                counts.push(found.len());
                addresses.extend(found.into_iter().map(|address| ScoredAddress {
                    address,
                    word_scores: vec![0.0; query.words.len()],
                }));
            }
            self.score_words(&searcher, query, &mut addresses)?;
            let mut rest = addresses;
            let mut files = Vec::with_capacity(paths.len());
            for count in counts {
                let behind = rest.split_off(count);
                files.push(read_file(&searcher, query, rest)?);
                rest = behind;
            }
            Ok(files)
        })
    }

    fn addresses_of_file(
        &self,
        searcher: &Searcher,
        path: &str,
        kinds: &[&'static str],
    ) -> tantivy::Result<Vec<DocAddress>> {
        let all: Vec<&str> = match kinds {
            [] => ChunkKind::ALL.iter().map(|kind| kind.name()).collect(),
            kinds => kinds.to_vec(),
        };
        let fields = [self.schema.kind, self.schema.nested_kind];
        let kinds = all
            .iter()
            .flat_map(|kind| fields.map(|field| exact_query(field, kind)));
        let of_file: Vec<(Occur, Box<dyn Query>)> = vec![
            (Occur::Must, exact_query(self.schema.path, path)),
            (Occur::Must, Box::new(BooleanQuery::union(kinds.collect()))),
        ];
        let found = searcher.search(&BooleanQuery::new(of_file), &DocSetCollector)?;
        let mut found: Vec<DocAddress> = found.into_iter().collect();
        found.sort_unstable();
        Ok(found)
    }

    /// Adds to each chunk what each word scores in its text and in its name. The path is the same for all
    /// chunks of a file.
    fn score_words(
        &self,
        searcher: &Searcher,
        query: &ChunkQuery<'_>,
        chunks: &mut [ScoredAddress],
    ) -> tantivy::Result<()> {
        let fields = self.schema;
        let statistics = KindStatistics::new(searcher, fields, fields.chunk)?;
        let scoring = EnableScoring::enabled_from_statistics_provider(&statistics, searcher);
        let mut order: Vec<(DocAddress, usize)> = chunks.iter().map(|one| one.address).zip(0..).collect();
        order.sort_unstable();
        for (word, text) in query.words.iter().enumerate() {
            let boost = query.weights.get(word).copied().unwrap_or(1.0);
            for field in [fields.text, fields.name] {
                let weight = word_query(field, text).weight(scoring)?;
                for documents in order.chunk_by(|(a, _), (b, _)| a.segment_ord == b.segment_ord) {
                    let segment = searcher.segment_reader(documents[0].0.segment_ord);
                    let mut scorer = weight.scorer(segment, boost)?;
                    for &(DocAddress { doc_id: document, .. }, at) in documents {
                        if scorer.doc() < document {
                            scorer.seek(document);
                        }
                        if scorer.doc() == document {
                            chunks[at].word_scores[word] += scorer.score();
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// Reads the chunks of one file that have most of the query's words.
fn read_file(
    searcher: &Searcher,
    query: &ChunkQuery<'_>,
    mut chunks: Vec<ScoredAddress>,
) -> tantivy::Result<FileChunks> {
    let mut file = FileChunks {
        total: chunks.len(),
        chunks_with_word: vec![0; query.words.len()],
        chunks: Vec::new(),
    };
    for chunk in &chunks {
        for (count, score) in file.chunks_with_word.iter_mut().zip(&chunk.word_scores) {
            *count += usize::from(*score > 0.0);
        }
    }
    chunks.sort_by(|a, b| b.total().total_cmp(&a.total()));
    // Equal scores at the cut are kept or left together, because their order depends on segments.
    if let Some(cut) = chunks.get(MAX_CHUNKS_PER_FILE).map(ScoredAddress::total) {
        chunks.retain(|chunk| chunk.total() > cut);
    }
    chunks.sort_unstable_by_key(|chunk| chunk.address);
    for ScoredAddress { address, word_scores } in chunks {
        let StoredBytes(bytes) = searcher.doc(address)?;
        let (chunk, vector) = decode_chunk(&bytes)
            .ok_or_else(|| TantivyError::InternalError("an entry is not as it was written".into()))?;
        let similarity = vector
            .zip(query.vector)
            .map(|(vector, of_query)| vector.similarity(&of_query));
        file.chunks.push(FileChunk {
            hit: ChunkHit {
                score: word_scores.iter().sum(),
                similarity: similarity.unwrap_or_default(),
                chunk,
            },
            word_scores,
        });
    }
    file.chunks.sort_by(|a, b| {
        (a.hit.chunk.first_line, a.hit.chunk.id).cmp(&(b.hit.chunk.first_line, b.hit.chunk.id))
    });
    Ok(file)
}
