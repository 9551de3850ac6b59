//! A discovery as stored: its text, and the hash that tells whether its file still has it.

use docent_core::discovery::Discovery;
use jiff::tz::TimeZone;
use jiff::{Timestamp, civil};
use serde::{Deserialize, Serialize};

/// A stored discovery.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredDiscovery {
    /// The path of its file, or the id of its commit.
    #[serde(rename = "place")]
    pub path_or_commit: String,
    pub discovery: Discovery,
    /// Stays the same as long as its text and its file or commit do.
    pub id: u64,
    /// Hash of its lines, 0 for a commit.
    pub hash: u64,
}

impl StoredDiscovery {
    /// Its date in seconds since 1970, 0 without a date.
    pub(super) fn timestamp(&self) -> u64 {
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

    /// `None` if the bytes are not those of a discovery.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }
}
