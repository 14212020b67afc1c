//! Refused settings.

/// The reason why a setting was refused. The message is one sentence for a person.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0}")]
pub struct SettingError(pub String);
