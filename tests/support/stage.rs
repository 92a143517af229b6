//! The stage of scripted children: their directories, and the user of their host.

use std::fs;
use std::future::{pending, ready};
use std::path::Path;
use std::time::Duration;

use pi_subagent_native::run::{
    Answer, BoxFuture, ChildQuestion, ConfirmRequest, Host, HostCallbacks, HostContext, HostModel,
};
use serde_json::Value;
use tempfile::TempDir;

use super::child::Child;

/// Longer than any machine needs, shorter than a person waits for a stuck test.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A directory with a project, an agent directory and the script of a child.
pub(crate) fn stage(child: Child) -> TempDir {
    let root = tempfile::tempdir().expect("a temporary directory is created");
    for directory in ["project/.git", "agent", "sessions"] {
        fs::create_dir_all(root.path().join(directory)).expect("the directory is created");
    }
    fs::write(root.path().join("pi.sh"), child.into_script()).expect("the file is written");
    root
}

/// The host of a run on such a stage.
pub(crate) fn context(root: &Path, config: Value) -> HostContext {
    HostContext {
        agent_dir: root.join("agent"),
        home: Some(root.join("home")),
        env: std::env::vars_os().filter(|(name, _)| name == "PATH").collect(),
        config: Some(config),
        pi_command: Some(vec!["/bin/sh".to_owned(), root.join("pi.sh").to_string_lossy().into_owned()]),
        warden: None,
        host: Host::default(),
    }
}

/// The user of a host, with a fixed reaction. Without a reaction there is no user.
#[derive(Default)]
pub(crate) struct User<'a> {
    pub(crate) confirms: Option<Box<dyn Fn(ConfirmRequest) -> bool + Send + Sync + 'a>>,
    pub(crate) answers: Option<Box<dyn Fn(ChildQuestion) -> Answer + Send + Sync + 'a>>,
    /// The time that the host waits for an answer. If only this is set, there is a user who never answers.
    pub(crate) patience: Option<Duration>,
    /// pi's answer about any model.
    pub(crate) model: Option<HostModel>,
}

impl HostCallbacks for User<'_> {
    fn is_interactive(&self) -> bool {
        self.confirms.is_some() || self.answers.is_some() || self.patience.is_some()
    }

    fn answer_timeout(&self) -> Duration {
        self.patience.unwrap_or(Duration::from_secs(600))
    }

    fn model<'a>(&'a self, _asked: &'a str) -> BoxFuture<'a, Option<HostModel>> {
        Box::pin(ready(self.model.clone()))
    }

    fn ask(&self, question: ChildQuestion) -> BoxFuture<'_, Answer> {
        if self.patience.is_some() {
            return Box::pin(pending());
        }
        Box::pin(ready(self.answers.as_ref().map_or(Answer::NoUser, |answers| answers(question))))
    }

    fn confirm(&self, request: ConfirmRequest) -> BoxFuture<'_, Option<bool>> {
        if self.patience.is_some() {
            return Box::pin(pending());
        }
        Box::pin(ready(self.confirms.as_ref().map(|confirms| confirms(request))))
    }
}
