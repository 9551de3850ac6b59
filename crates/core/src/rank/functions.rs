//! Functions inside the best files: which of them are shown, and how many of one file.
//!
//! The best file and the best function of it are two questions. Words that all functions of a file share say
//! that the file is right, and say nothing about its functions. So inside a file a word counts by how few of
//! the file's own chunks have it, as well as by how few of the project's.
//!
//! The best function of a file has the score of the file. A further function keeps a share of it: the nearer
//! it is to the best one, the larger. So one file takes several places if several of its functions match
//! about equally well, and else the next file follows.
//!
//! Invariant: the order of files is that of their scores; functions move inside their file's scores only.

use super::fusion::{compare_scores, kind_factor, saturate};
use super::{NamedSignals, RankInput, Weights, signals};
use crate::text::tokens::ParsedQuery;

/// One of the best files, with its chunks.
#[derive(Clone, Debug)]
pub struct FileInput<'a> {
    /// The score of its best chunk among those of the project.
    pub score: f32,
    /// How many chunks it has, those that are not in `chunks` included.
    pub total: usize,
    /// By the words of the query: how many of its chunks have it.
    pub chunks_with_word: &'a [usize],
    /// In the order of their lines.
    pub chunks: Vec<FunctionInput<'a>>,
}

/// A chunk of one of the best files.
#[derive(Clone, Copy, Debug)]
pub struct FunctionInput<'a> {
    pub chunk: RankInput<'a>,
    /// By the words of the query: its BM25 score.
    pub word_scores: &'a [f32],
}

impl FunctionInput<'_> {
    /// Whether the chunk has a word of the query, or is named by it.
    fn is_match(&self) -> bool {
        self.chunk.named != NamedSignals::default() || self.word_scores.iter().any(|score| *score > 0.0)
    }
}

/// The relevance of each chunk of the best files, from 0 to 1, in the order given. `None` for a chunk that is
/// not shown by itself.
pub fn rank_functions(
    query: &ParsedQuery,
    files: &[FileInput<'_>],
    spread: Spread,
    weights: &Weights,
) -> Vec<Vec<Option<f64>>> {
    let coverages: Vec<f32> = files.iter().map(coverage).collect();
    let best = coverages.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    let score = |(file, coverage): (&FileInput<'_>, f32)| {
        let role = file
            .chunks
            .first()
            .map_or(1.0, |one| signals::role_factor(query, one.chunk.path, weights));
        file.score + weights.file_coverage * weights.name_factor(query) * role * coverage / best
    };
    let scores: Vec<f32> = files.iter().zip(coverages).map(score).collect();
    let limit = match spread {
        Spread::ManyFiles => nth_best(&scores, weights.first_files),
        Spread::FewFiles => f32::INFINITY,
    };
    let scored = files.iter().zip(&scores).map(|(file, &score)| {
        let shares = share_score(&file.chunks, &score_inside(query, file, weights), spread, weights);
        let place = |share: Share| match share {
            Share::Best => Some(saturate(score)),
            Share::Further(share) => Some(saturate(
                (score * share).min(limit * (1.0 - LIMITED_RANGE * (1.0 - share))),
            )),
            Share::Left => None,
        };
        shares.into_iter().map(place).collect()
    });
    scored.collect()
}

/// How the places of a search are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Several files come first, because any of them may be the right one.
    ManyFiles,
    /// The caller has chosen the files, so that only functions compete.
    FewFiles,
}

/// The share of its file's score that a chunk keeps.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Share {
    Best,
    Further(f32),
    /// It only leads to other chunks of its file.
    Left,
}

/// Functions that the limit stops keep their order within this share of it.
const LIMITED_RANGE: f32 = 0.05;

/// The score that further functions cannot pass: that of the file at this place, counted from 1.
fn nth_best(scores: &[f32], place: f32) -> f32 {
    /// Just below it: equal scores are ordered by path.
    const BELOW: f32 = 0.999;
    let mut scores = scores.to_vec();
    scores.sort_by(|a, b| b.total_cmp(a));
    let places = std::iter::successors(Some(1.0_f32), |place| Some(place + 1.0));
    let mut at_place = places.zip(scores).skip_while(|(number, _)| *number < place);
    at_place.next().map_or(f32::INFINITY, |(_, score)| score * BELOW)
}

/// How well all chunks of a file together have the words: the best score of each word, added up.
fn coverage(file: &FileInput<'_>) -> f32 {
    let words = 0..file.chunks_with_word.len();
    let best = |word: usize| {
        let scores = file.chunks.iter().map(|one| one.word_scores[word]);
        scores.fold(0.0, f32::max)
    };
    words.map(best).sum()
}

/// The score of each chunk among those of its file.
fn score_inside(query: &ParsedQuery, file: &FileInput<'_>, weights: &Weights) -> Vec<f32> {
    let rarity: Vec<f32> = file
        .chunks_with_word
        .iter()
        .map(|count| 1.0 - weights.file_rarity + weights.file_rarity * rarity(*count, file.total))
        .collect();
    let words = |one: &FunctionInput<'_>| -> f32 {
        let scores = one.word_scores.iter().zip(&rarity);
        scores.map(|(score, rarity)| score * rarity).sum()
    };
    let max = |number: &dyn Fn(&FunctionInput<'_>) -> f32| {
        file.chunks.iter().map(number).fold(f32::MIN_POSITIVE, f32::max)
    };
    let (max_words, max_similarity) = (max(&words), max(&|one| one.chunk.similarity));
    let similarity_weight = weights.function_similarity * weights.name_factor(query);
    let score = |one: &FunctionInput<'_>| {
        let similarity = weights.similarity_score(one.chunk.similarity, max_similarity);
        let mut score = words(one) / max_words + similarity_weight * similarity;
        score += weights.function_name * signals::name_match(query, one.chunk.name);
        score += signals::definition(query, &one.chunk, weights);
        score *= signals::inline_test_factor(query, &one.chunk, weights);
        score += one.chunk.named.score(weights);
        if query.is_name {
            // The definition decides, whatever its kind.
            return score;
        }
        score * kind_factor(query, &one.chunk, weights)
    };
    file.chunks.iter().map(score).collect()
}

/// How rare a word is among the chunks of a file, from 0 to 1: the inverse document frequency of BM25.
fn rarity(count: usize, total: usize) -> f32 {
    let number = |count: usize| f32::from(u16::try_from(count).unwrap_or(u16::MAX));
    let (count, total) = (number(count), number(total));
    let idf = |count: f32| (1.0 + (total - count + 0.5) / (count + 0.5)).ln();
    idf(count) / idf(1.0)
}

/// The share of its file's score that each chunk keeps.
fn share_score(
    chunks: &[FunctionInput<'_>],
    scores: &[f32],
    spread: Spread,
    weights: &Weights,
) -> Vec<Share> {
    // The top of a file has the words of its topic, and says nothing that a definition below does not show.
    let leads_on = |chunk: &RankInput<'_>| chunk.is_container_header || chunk.is_top_of_file();
    let has_other = chunks
        .iter()
        .any(|one| !leads_on(&one.chunk) && !one.chunk.name.is_empty());
    let has_text = chunks.iter().any(|one| !one.chunk.is_container_header);
    let has_match = chunks.iter().any(FunctionInput::is_match);
    let is_left = |at: usize| {
        let chunk = &chunks[at].chunk;
        chunk.is_container_header && has_text
            || leads_on(chunk) && has_other
            || has_match && !chunks[at].is_match()
    };
    let mut order: Vec<usize> = (0..scores.len()).filter(|at| !is_left(*at)).collect();
    order.sort_by(|&a, &b| compare_scores(f64::from(scores[a]), f64::from(scores[b])));
    let best = order.first().map_or(0.0, |&at| scores[at]).max(f32::MIN_POSITIVE);
    let same_file_penalty = match spread {
        Spread::ManyFiles => weights.same_file_penalty,
        Spread::FewFiles => 1.0,
    };
    let mut shares = vec![Share::Left; scores.len()];
    let mut penalty = 1.0;
    for (rank, &at) in order.iter().enumerate() {
        if rank == 0 {
            shares[at] = Share::Best;
            penalty = same_file_penalty;
            continue;
        }
        let mut before = order[..rank].iter();
        let repeat = if before.any(|&other| is_same(&chunks[at].chunk, &chunks[other].chunk)) {
            weights.same_function_penalty
        } else {
            1.0
        };
        shares[at] = Share::Further(penalty * repeat * (scores[at] / best).powf(weights.closeness));
        penalty *= same_file_penalty;
    }
    shares
}

/// Whether two chunks are parts of one definition.
fn is_same(one: &RankInput<'_>, other: &RankInput<'_>) -> bool {
    let key = |chunk: &RankInput<'_>| (chunk.kind, chunk.parts);
    one.parts > 1 && key(one) == key(other) && (one.name, one.enclosing) == (other.name, other.enclosing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::ChunkKind;

    fn chunk(name: &str) -> RankInput<'_> {
        RankInput {
            project: 0,
            path: "src/store.py",
            kind: ChunkKind::Function,
            name,
            enclosing: "",
            generated: false,
            is_container_header: false,
            reopens: false,
            part: 1,
            parts: 1,
            bm25: 1.0,
            similarity: 0.0,
            commit_score: 0.0,
            named: NamedSignals::default(),
        }
    }

    /// A file by its score and its chunks, each with the scores of the two words.
    type GivenFile<'a> = (f32, &'a [(RankInput<'a>, [f32; 2])]);

    /// The chunks of files that are shown, the best first. Each file is given by its score and its chunks,
    /// with the scores of the words of the query "alpha beta".
    fn ranked(files: &[GivenFile<'_>], spread: Spread) -> Vec<String> {
        let counts: Vec<[usize; 2]> = files
            .iter()
            .map(|(_, chunks)| {
                [0, 1].map(|word| chunks.iter().filter(|(_, scores)| scores[word] > 0.0).count())
            })
            .collect();
        let inputs: Vec<FileInput<'_>> = files
            .iter()
            .zip(&counts)
            .map(|((score, chunks), counts)| FileInput {
                score: *score,
                total: chunks.len(),
                chunks_with_word: counts,
                chunks: chunks
                    .iter()
                    .map(|(chunk, word_scores)| FunctionInput {
                        chunk: *chunk,
                        word_scores,
                    })
                    .collect(),
            })
            .collect();
        let query = ParsedQuery::of("alpha beta");
        let relevance = rank_functions(&query, &inputs, spread, &Weights::default());
        let names = inputs
            .iter()
            .flat_map(|file| file.chunks.iter().map(|one| one.chunk.name));
        let mut shown: Vec<(&str, f64)> = names
            .zip(relevance.into_iter().flatten())
            .filter_map(|(name, relevance)| Some((name, relevance?)))
            .collect();
        shown.sort_by(|(_, a), (_, b)| compare_scores(*a, *b));
        shown.into_iter().map(|(name, _)| name.to_owned()).collect()
    }

    #[test]
    fn a_word_that_few_functions_of_the_file_have_decides() {
        let file = [
            (chunk("a"), [2.0, 0.0]),
            (chunk("b"), [2.0, 0.0]),
            (chunk("c"), [2.0, 0.0]),
            (chunk("d"), [0.0, 1.8]),
        ];
        assert_eq!(ranked(&[(1.0, &file)], Spread::ManyFiles)[0], "d");
    }

    #[test]
    fn a_second_function_stands_behind_several_files_and_before_a_poor_one() {
        let both = [(chunk("first"), [1.0, 1.0]), (chunk("second"), [1.0, 0.9])];
        let others = ["b", "c", "d", "e", "f"].map(|name| [(chunk(name), [1.0, 1.0])]);
        let mut files: Vec<GivenFile<'_>> = vec![(2.0, &both)];
        files.extend(
            [1.9, 1.8, 1.7, 1.6, 0.2]
                .into_iter()
                .zip(others.iter().map(|one| &one[..])),
        );
        assert_eq!(
            ranked(&files, Spread::ManyFiles),
            ["first", "b", "c", "d", "e", "second", "f"]
        );
    }

    #[test]
    fn functions_of_files_that_the_caller_chose_compete_by_themselves() {
        let both = [(chunk("first"), [1.0, 1.0]), (chunk("second"), [1.0, 0.9])];
        let other = [(chunk("other"), [1.0, 1.0])];
        let files: [GivenFile<'_>; 2] = [(2.0, &both), (1.2, &other)];
        assert_eq!(ranked(&files, Spread::FewFiles), ["first", "second", "other"]);
    }

    #[test]
    fn a_container_header_gives_its_place_to_a_chunk_of_its_file() {
        let header = RankInput {
            kind: ChunkKind::Module,
            is_container_header: true,
            ..chunk("header")
        };
        let file = [(header, [3.0, 3.0]), (chunk("real"), [1.0, 0.0])];
        assert_eq!(ranked(&[(1.0, &file)], Spread::ManyFiles), ["real"]);
        assert_eq!(ranked(&[(1.0, &file[..1])], Spread::ManyFiles), ["header"]);
    }

    #[test]
    fn a_function_comes_before_the_test_beside_it() {
        let test = RankInput {
            enclosing: "tests",
            ..chunk("test")
        };
        let file = [(test, [1.0, 1.0]), (chunk("tested"), [1.0, 0.5])];
        assert_eq!(ranked(&[(1.0, &file)], Spread::ManyFiles), ["tested", "test"]);
    }

    #[test]
    fn a_further_part_of_a_function_stands_behind_another_function() {
        let part = |number| RankInput {
            part: number,
            parts: 2,
            ..chunk("long")
        };
        let file = [
            (part(1), [1.0, 1.0]),
            (part(2), [1.0, 0.95]),
            (chunk("other"), [1.0, 0.85]),
        ];
        assert_eq!(
            ranked(&[(1.0, &file)], Spread::FewFiles),
            ["long", "other", "long"]
        );
    }
}
