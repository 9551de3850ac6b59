//! A discovery as the store keeps it: what it says, and what must be known to see that its file still says it.

use docent_core::discovery::Discovery;
use jiff::tz::TimeZone;
use jiff::{Timestamp, civil};
use serde::{Deserialize, Serialize};

/// A discovery that can be found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredDiscovery {
    /// The file it is in, or the id of the commit.
    pub place: String,
    pub discovery: Discovery,
    /// The same as long as it says the same at the same place.
    pub id: u64,
    /// Of the text of its lines; of what is in no file, 0.
    pub hash: u64,
}

impl StoredDiscovery {
    /// When it was made, in seconds since 1970; 0 where nobody says.
    pub(super) fn when(&self) -> u64 {
        let date = self.discovery.date.as_deref().unwrap_or_default();
        let moment = date.parse::<Timestamp>().ok().or_else(|| {
            let day: civil::Date = date.get(..10)?.parse().ok()?;
            Some(day.to_zoned(TimeZone::UTC).ok()?.timestamp())
        });
        moment.map_or(0, |moment| u64::try_from(moment.as_second()).unwrap_or_default())
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("plain data with string keys")
    }

    /// Nothing where the bytes are not those of a note.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }
}
