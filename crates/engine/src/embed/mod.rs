//! Embedders: texts as vectors, whose similarity says how close two texts are in meaning.
//!
//! The bundled table is an [`Embedder`]; its vectors are part of every index. A model on a server
//! ([`Remote`]) is not: it only reranks candidates.
//!
//! Invariant: vectors of two models are never compared. The name of the bundled table is part of an index's
//! identity, and each model on a server has its own database of vectors.

mod bundled;
mod http;
mod quantized;
mod remote;
mod vector_cache;

use std::fmt::Debug;

pub use bundled::bundled;
pub use http::{ApiKey, EmbeddingError, Server};
pub use quantized::QuantizedVector;
pub(crate) use remote::Text;
pub use remote::{Remote, RemoteOptions};

/// Dimensions of the bundled table.
pub const DIMENSIONS: usize = 128;

/// A vector of the bundled table. All have the same length, so that the dot product is the cosine up to a
/// factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vector(pub [i8; DIMENSIONS]);

/// A model whose vectors are part of an index.
pub trait Embedder: Debug + Send + Sync {
    /// Identifies the model: vectors of different names are not comparable.
    fn name(&self) -> &str;

    /// The vector of a text. `None` if no word of it is in the vocabulary.
    fn embed(&self, text: &str) -> Option<Vector>;

    /// Whether every word of a text is in the vocabulary.
    fn knows(&self, text: &str) -> bool;
}

/// Euclidean length of every [`Vector`].
const LENGTH: f32 = 127.0;

impl Vector {
    /// Scales a sum to [`LENGTH`]. `None` for a sum of zero or one that is not finite.
    fn normalize(sum: &[f32; DIMENSIONS]) -> Option<Self> {
        let length = sum.iter().map(|part| part * part).sum::<f32>().sqrt();
        if !length.is_normal() {
            return None;
        }
        let mut vector = [0; DIMENSIONS];
        for (part, unscaled) in vector.iter_mut().zip(sum) {
            // No component is longer than the vector, so it fits into an i8.
            #[expect(clippy::cast_possible_truncation, reason = "see above")]
            let rounded = (unscaled / length * LENGTH).round() as i8;
            *part = rounded;
        }
        Some(Self(vector))
    }

    /// Cosine similarity, from -1 to 1.
    pub fn similarity(&self, other: &Self) -> f32 {
        let product: i32 = self
            .0
            .iter()
            .zip(&other.0)
            .map(|(a, b)| i32::from(*a) * i32::from(*b))
            .sum();
        // It is below 2^24, up to which an f32 is exact.
        #[expect(clippy::cast_precision_loss, reason = "see above")]
        let product = product as f32;
        product / (LENGTH * LENGTH)
    }
}
