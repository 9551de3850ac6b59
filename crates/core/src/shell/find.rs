//! Lists of files: the arguments of `find`, `fd`, `ls -R` and `tree` as one request.

use super::{Refusal, Word};

/// A list of files that docent answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindRequest {}

/// Reads the arguments of `program`.
pub fn understand(program: &str, arguments: &[Word]) -> Result<FindRequest, Refusal> {
    let _ = (program, arguments);
    Err(Refusal::Program)
}
