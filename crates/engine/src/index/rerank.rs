//! Similarities by an embedding server, scaled so that they can be combined with other signals.

use std::sync::Arc;

use crate::deadline::Deadline;
use crate::embed::{EmbeddingError, Remote};

/// Why an embedding server took no part in ranking.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RerankSkipped {
    #[error("The embedding server {host} {trouble}; results are ordered without it")]
    Trouble { host: String, trouble: EmbeddingError },
    #[error("{model} does not know enough of the results yet; they are ordered without it")]
    Unknown { model: String },
}

/// The server takes part only if at most one in so many results has no vector yet.
const MAX_UNKNOWN_FRACTION: usize = 10;

/// The similarity of stored texts to a query: 0 for the least similar, 1 for the most, 0.5 for one without a
/// vector.
pub(super) fn similarity(
    remote: &Arc<Remote>,
    query: &str,
    keys: &[u64],
    deadline: &Deadline,
) -> Result<Vec<f32>, RerankSkipped> {
    let similarities = remote
        .query(query, deadline)
        .and_then(|vector| remote.similarity(&vector, keys));
    let (similarities, unknown) = similarities.map_err(|trouble| RerankSkipped::Trouble {
        host: remote.server().host().to_owned(),
        trouble,
    })?;
    if unknown * MAX_UNKNOWN_FRACTION > similarities.len() {
        return Err(RerankSkipped::Unknown {
            model: remote.server().model.clone(),
        });
    }
    Ok(scale(&similarities))
}

/// Scales to the range from 0 to 1. Models differ in how similar even unrelated texts are, so only the order
/// and the relative distances count.
fn scale(similarities: &[Option<f32>]) -> Vec<f32> {
    let known = || similarities.iter().flatten().copied();
    let least = known().fold(f32::INFINITY, f32::min);
    let most = known().fold(f32::NEG_INFINITY, f32::max);
    let range = (most - least).max(f32::MIN_POSITIVE);
    let scaled = |similarity: &Option<f32>| similarity.map_or(0.5, |value| (value - least) / range);
    similarities.iter().map(scaled).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_similar_is_0_and_the_most_similar_is_1() {
        assert_eq!(scale(&[Some(0.75), Some(0.5), Some(1.0)]), [0.5, 0.0, 1.0]);
    }

    #[test]
    fn a_text_without_a_vector_is_in_the_middle() {
        assert_eq!(scale(&[Some(0.2), None, Some(0.4)]), [0.0, 0.5, 1.0]);
    }

    #[test]
    fn one_similarity_alone_is_finite() {
        assert_eq!(scale(&[Some(0.9)]), [0.0]);
        assert_eq!(scale(&[None]), [0.5]);
    }
}
