//! A vector in as many numbers as its model gives.

/// Which way a text points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuantizedVector(Box<[i8]>);

/// More numbers than any model gives.
const MAX_DIMENSIONS: usize = 1 << 14;

impl QuantizedVector {
    /// Nothing where the numbers point nowhere.
    pub(super) fn of(numbers: &[f32]) -> Option<Self> {
        let largest = numbers.iter().map(|number| number.abs()).fold(0.0, f32::max);
        let is_sound = largest.is_normal() && numbers.iter().all(|number| number.is_finite());
        // The largest becomes 127, so that it fits; how long the whole is says nothing.
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

    /// How near two are, from -1 to 1; nothing where they have different numbers of numbers.
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
            // At most 2^28, of which a float keeps the first 24 digits.
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
    fn nearness_is_the_cosine() {
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
        let near = |a: &[f32], b: &[f32]| {
            QuantizedVector::of(a)
                .unwrap()
                .similarity(&QuantizedVector::of(b).unwrap())
        };
        for (a, b) in [(&long, &long), (&long, &other)] {
            let (is, should) = (near(a, b).unwrap(), exact(a, b));
            assert!((is - should).abs() < 0.01, "{is} {should}");
        }
        assert_eq!(near(&long, &[1.0, 0.0]), None);
        assert_eq!(QuantizedVector::of(&[0.0, 0.0]), None);
        assert_eq!(QuantizedVector::of(&[f32::NAN, 1.0]), None);
        assert_eq!(QuantizedVector::of(&[]), None);
    }

    #[test]
    fn it_is_read_as_it_was_written() {
        let direction = QuantizedVector::of(&[0.5, -1.0, 0.001]).unwrap();
        assert_eq!(QuantizedVector::from_bytes(&direction.to_bytes()), direction);
    }
}
