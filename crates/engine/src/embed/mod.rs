//! Meaning as numbers: texts that are about the same thing have vectors that point the same way.
//!
//! There is a table that comes with docent, and whose vectors are a part of every index; and there may be a model on a server, that
//! orders what was found once more.
//!
//! Invariant: vectors of two models are never compared. An index is kept under the name of the table it was made with; the
//! vectors of a server in a file of their own for each model.

mod bundled;
mod http;
mod quantized;
mod remote;
mod vector_cache;

use std::fmt::Debug;

pub use bundled::bundled;
pub use http::{ApiKey, Server, Trouble};
pub use quantized::QuantizedVector;
pub(crate) use remote::Text;
pub use remote::{Remote, Use};

/// How many numbers a vector has.
pub const DIMENSIONS: usize = 128;

/// Which way a text points. Its length is the same for all, so that a product says how near two are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vector(pub [i8; DIMENSIONS]);

/// Gives texts their vectors.
pub trait Embedder: Debug + Send + Sync {
    /// Tells its vectors from those of others.
    fn name(&self) -> &str;

    /// The vector of a text; nothing where it has no word that means something.
    fn embed(&self, text: &str) -> Option<Vector>;

    /// Whether every word of a text means something by itself.
    fn knows(&self, text: &str) -> bool;
}

/// The length of vectors.
const LENGTH: f32 = 127.0;

impl Vector {
    /// The direction of a sum; nothing where it has none.
    fn pointing(sum: &[f32; DIMENSIONS]) -> Option<Self> {
        let length = sum.iter().map(|part| part * part).sum::<f32>().sqrt();
        if !length.is_normal() {
            return None;
        }
        let mut vector = [0; DIMENSIONS];
        for (part, of) in vector.iter_mut().zip(sum) {
            // No part is longer than the whole, so that it fits.
            #[expect(clippy::cast_possible_truncation, reason = "see above")]
            let rounded = (of / length * LENGTH).round() as i8;
            *part = rounded;
        }
        Some(Self(vector))
    }

    /// How near two are, from -1 to 1.
    pub fn similarity(&self, other: &Self) -> f32 {
        let product: i32 = self
            .0
            .iter()
            .zip(&other.0)
            .map(|(a, b)| i32::from(*a) * i32::from(*b))
            .sum();
        // It is below 2^24, up to which floats are exact.
        #[expect(clippy::cast_precision_loss, reason = "see above")]
        let product = product as f32;
        product / (LENGTH * LENGTH)
    }
}
