//! The artifacts of a run, and the applied part of them.

use std::path::PathBuf;

use super::error::ApplyError;
use crate::snapshot::{Artifacts, Snapshot, SnapshotError, SnapshotStore};

/// The applied files, relative to the root of the tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// The files that were written or removed, including files with conflict markers.
    pub written: Vec<PathBuf>,
    /// The files about which a person has to decide, with the reasons.
    pub conflicts: Vec<(PathBuf, String)>,
}

impl SnapshotStore {
    /// Returns the artifacts of a run, and the snapshot that it started from.
    pub(super) async fn artifacts(&self, id: &str) -> Result<(Snapshot, Artifacts), ApplyError> {
        let snapshot = match self.open(id).await {
            Err(SnapshotError::Unknown { .. }) => return Err(ApplyError::Nothing),
            found => found?,
        };
        match snapshot.artifacts.clone() {
            Some(artifacts) if artifacts.is_discarded => Err(ApplyError::Discarded),
            Some(artifacts) => Ok((snapshot, artifacts)),
            None if snapshot.is_of_private_tree() => Err(ApplyError::NoBranch),
            None => Err(ApplyError::InPlace { id: id.to_owned() }),
        }
    }
}
