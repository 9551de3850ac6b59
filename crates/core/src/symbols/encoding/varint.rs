//! Numbers of variable length: seven bits a byte, the lowest first, the high bit set on all bytes but the
//! last. A difference may be negative and is folded, so that small ones of either sign are short.

use super::DecodeError;

/// Writes numbers.
#[derive(Default)]
pub(super) struct VarintWriter {
    pub(super) bytes: Vec<u8>,
}

/// Reads numbers, and the bytes between them.
#[derive(Clone, Copy, Debug)]
pub(super) struct VarintReader<'a> {
    bytes: &'a [u8],
}

impl VarintWriter {
    pub(super) fn write(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number.to_le_bytes()[0] | 0x80);
            number >>= 7;
        }
        self.bytes.push(number.to_le_bytes()[0]);
    }

    /// Writes `number - base`.
    pub(super) fn write_difference(&mut self, number: u32, base: u32) {
        let difference = i64::from(number) - i64::from(base);
        self.write(((difference << 1) ^ (difference >> 63)).cast_unsigned());
    }
}

impl<'a> VarintReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// How many bytes are left.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    #[inline]
    pub(super) fn read_u64(&mut self) -> Result<u64, DecodeError> {
        // Most numbers have one byte.
        if let [byte, rest @ ..] = self.bytes
            && *byte < 0x80
        {
            self.bytes = rest;
            return Ok(u64::from(*byte));
        }
        self.read_long()
    }

    fn read_long(&mut self) -> Result<u64, DecodeError> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.bytes.split_first().ok_or(DecodeError)?;
            self.bytes = rest;
            let bits = u64::from(byte & 0x7f);
            number |= bits << shift;
            if *byte < 0x80 {
                // Bits beyond the highest would be lost.
                return if number >> shift == bits {
                    Ok(number)
                } else {
                    Err(DecodeError)
                };
            }
        }
        Err(DecodeError)
    }

    #[inline]
    pub(super) fn read(&mut self) -> Result<u32, DecodeError> {
        u32::try_from(self.read_u64()?).map_err(|_| DecodeError)
    }

    /// Reads a number that must be below `end`.
    #[inline]
    pub(super) fn read_below(&mut self, end: u32) -> Result<u32, DecodeError> {
        let number = self.read()?;
        if number < end {
            Ok(number)
        } else {
            Err(DecodeError)
        }
    }

    /// Reads a number that was written as the difference to `base`.
    #[inline]
    pub(super) fn read_difference(&mut self, base: u32) -> Result<u32, DecodeError> {
        let folded = self.read_u64()?;
        let difference = (folded >> 1).cast_signed() ^ -(folded & 1).cast_signed();
        let number = i64::from(base).checked_add(difference).ok_or(DecodeError)?;
        u32::try_from(number).map_err(|_| DecodeError)
    }

    /// Reads how many items follow, each of which takes `bytes_each` bytes at least. More than fit are
    /// damage, so that nothing is allocated for them.
    pub(super) fn read_count(&mut self, bytes_each: usize) -> Result<u32, DecodeError> {
        let count = self.read()?;
        let fits = (count as usize)
            .checked_mul(bytes_each)
            .is_some_and(|bytes| bytes <= self.len());
        if fits { Ok(count) } else { Err(DecodeError) }
    }

    #[inline]
    pub(super) fn read_bytes(&mut self, length: usize) -> Result<&'a [u8], DecodeError> {
        let (bytes, rest) = self.bytes.split_at_checked(length).ok_or(DecodeError)?;
        self.bytes = rest;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_were_written() {
        for number in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
            let mut writer = VarintWriter::default();
            writer.write(number);
            assert_eq!(VarintReader::new(&writer.bytes).read_u64(), Ok(number));
            for end in 0..writer.bytes.len() {
                assert_eq!(
                    VarintReader::new(&writer.bytes[..end]).read_u64(),
                    Err(DecodeError)
                );
            }
        }
        for (number, base) in [(0, 0), (0, u32::MAX), (u32::MAX, 0), (7, 9), (9, 7)] {
            let mut writer = VarintWriter::default();
            writer.write_difference(number, base);
            assert_eq!(VarintReader::new(&writer.bytes).read_difference(base), Ok(number));
        }
    }

    #[test]
    fn numbers_that_are_too_long_are_damage() {
        for bytes in [&[0xff; 10][..], &[0xff; 9], &[0x80; 11]] {
            assert_eq!(VarintReader::new(bytes).read_u64(), Err(DecodeError), "{bytes:?}");
        }
        let mut above = [0x80; 10];
        above[9] = 2;
        assert_eq!(VarintReader::new(&above).read_u64(), Err(DecodeError));
        assert_eq!(VarintReader::new(&[5, 1, 2]).read_count(1), Err(DecodeError));
        assert_eq!(VarintReader::new(&[2, 1, 2]).read_count(1), Ok(2));
        assert_eq!(VarintReader::new(&[1]).read_difference(0), Err(DecodeError));
    }
}
