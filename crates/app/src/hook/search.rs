//! A line for the model after a search of the client's own.

use super::event::SearchFound;

/// What to try next. `None` for a search that found what one can read.
pub(super) fn remark(found: SearchFound) -> Option<String> {
    let text = match found {
        SearchFound::Some => return None,
        SearchFound::Nothing => {
            "Nothing matched. `docent search 'words'` finds code by its meaning and names that are spelt almost so."
        }
        SearchFound::TooMuch => {
            "Much matched. `docent sh grep -rn PATTERN .` shows matches by file and function in 4,000 characters."
        }
    };
    Some(text.to_owned())
}
