//! A vector of an embedding server, quantized to one byte per dimension.
//!
//! The number of dimensions is the model's. The bundled table has its own type, [`Vector`](super::Vector).
//!
//! Invariant: every component is finite and at least one is not zero, so that a cosine exists.

/// A vector whose length has no meaning, only its direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuantizedVector(Box<[i8]>);

/// More dimensions than any model has.
const MAX_DIMENSIONS: usize = 1 << 14;

impl QuantizedVector {
    /// Quantizes a vector. `None` if it is zero, not finite or too long.
    pub(super) fn quantize(numbers: &[f32]) -> Option<Self> {
        let largest = numbers.iter().map(|number| number.abs()).fold(0.0, f32::max);
        let is_sound = largest.is_normal() && numbers.iter().all(|number| number.is_finite());
        // The largest component becomes 127, so all fit. The length is lost, and the cosine does not need it.
        #[expect(clippy::cast_possible_truncation, reason = "see above")]
        let rounded = |number: &f32| (number / largest * 127.0).round() as i8;
        (is_sound && numbers.len() <= MAX_DIMENSIONS).then(|| Self(numbers.iter().map(rounded).collect()))
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Self {
        Self(bytes.iter().map(|byte| byte.cast_signed()).collect())
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().map(|number| number.cast_unsigned()).collect()
    }

    pub(super) fn dimensions(&self) -> usize {
        self.0.len()
    }

    /// Cosine similarity, from -1 to 1. `None` for vectors of different dimensions.
    pub fn similarity(&self, other: &Self) -> Option<f32> {
        if self.0.len() != other.0.len() {
            return None;
        }
        let product = |a: &Self, b: &Self| -> f32 {
            let sum: i32 =
                a.0.iter()
                    .zip(&b.0)
                    .map(|(a, b)| i32::from(*a) * i32::from(*b))
                    .sum();
            // At most 2^28, of which an f32 keeps the first 24 bits.
            #[expect(clippy::cast_precision_loss, reason = "see above")]
            let sum = sum as f32;
            sum
        };
        let length = (product(self, self) * product(other, other)).sqrt();
        (length > 0.0).then(|| product(self, other) / length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similarity_is_the_cosine() {
        let long: Vec<f32> = (0..1_536_u16)
            .map(|at| (f32::from(at) * 0.37).sin() / 50.0)
            .collect();
        let other: Vec<f32> = (0..1_536_u16)
            .map(|at| (f32::from(at) * 0.38).cos() / 9.0)
            .collect();
        let exact = |a: &[f32], b: &[f32]| {
            let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
            dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
        };
        let similarity = |a: &[f32], b: &[f32]| {
            QuantizedVector::quantize(a)
                .unwrap()
                .similarity(&QuantizedVector::quantize(b).unwrap())
        };
        for (a, b) in [(&long, &long), (&long, &other)] {
            let (actual, expected) = (similarity(a, b).unwrap(), exact(a, b));
            assert!((actual - expected).abs() < 0.01, "{actual} {expected}");
        }
        assert_eq!(similarity(&long, &[1.0, 0.0]), None);
        assert_eq!(QuantizedVector::quantize(&[0.0, 0.0]), None);
        assert_eq!(QuantizedVector::quantize(&[f32::NAN, 1.0]), None);
        assert_eq!(QuantizedVector::quantize(&[]), None);
    }

    #[test]
    fn bytes_are_read_as_they_were_written() {
        let direction = QuantizedVector::quantize(&[0.5, -1.0, 0.001]).unwrap();
        assert_eq!(QuantizedVector::from_bytes(&direction.to_bytes()), direction);
    }
}
