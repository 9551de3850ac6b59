//! Questions to git: the arguments of `git log`, `show`, `diff`, `blame` and `status`.

use super::{Refusal, Word};

/// A command of git that docent answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitRequest {}

/// Reads the arguments after `git`, the command first.
pub fn understand(arguments: &[Word]) -> Result<GitRequest, Refusal> {
    let _ = arguments;
    Err(Refusal::Program)
}
