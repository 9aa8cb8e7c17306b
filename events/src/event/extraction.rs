//! What happens to extraction jobs, in the stream of their thread.

use serde::{Deserialize, Serialize};

use crate::ids::{JobId, MessageId, RecordId};

/// `extraction_requested`: the promise that these messages will be looked at. The same job again is a retry.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ExtractionRequestedV1 {
    /// The job.
    pub job: JobId,
    /// What to look at, in order.
    pub messages: Vec<MessageId>,
}

/// `extraction_completed`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ExtractionCompletedV1 {
    /// The job.
    pub job: JobId,
    /// The records made.
    pub records: Vec<RecordId>,
    /// How many tries it took.
    pub attempts: u32,
    /// Results dropped because they said what is known or rested on messages that are gone.
    pub dropped: u32,
}

/// `extraction_failed`: given up for now; the messages stay.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ExtractionFailedV1 {
    /// The job.
    pub job: JobId,
    /// A stable code such as `malformed_answer`; never text of a person or a model.
    pub code: String,
    /// How many tries were made.
    pub attempts: u32,
}
