//! The stage of scripted children: the directories, a shell that writes pi's event stream, and the user of the host.

use std::fs;
use std::future::{pending, ready};
use std::path::Path;
use std::time::Duration;

use pi_subagent_native::run::{
    Answer, BoxFuture, ChildQuestion, ConfirmRequest, Host, HostCallbacks, HostContext, HostModel,
};
use serde_json::Value;
use tempfile::TempDir;

/// Longer than any machine needs, shorter than a person waits for a stuck test.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// pi's events. `hear` reads the next command and fails once the host has ended, `works` does the task, `asked` waits for the
/// request for an announcement, `leave` waits for the end of the commands. `gate` waits until the test has written a file.
const WORDS: &str = r#"
home=${0%/*}
begin() { printf '{"type":"agent_start"}\n'; }
said() { # text [stopReason [more fields]]
    printf '{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"%s"}],"provider":"fake","model":"m1","usage":{"input":10,"output":5,"cacheRead":0,"cacheWrite":0,"totalTokens":15,"cost":{"total":0.3}},"stopReason":"%s"%s}}\n' "$1" "${2:-stop}" "$3"
}
delta() { printf '{"type":"message_update","usage":{},"assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"%s"}}\n' "$1"; }
settled() { printf '{"type":"agent_end","messages":[],"willRetry":false}\n{"type":"agent_settled","aborted":false}\n'; }
hear() { IFS= read -r line && printf '%s\n' "$line" >> "$home/heard"; }
works() { hear; begin; said 'The whole answer.'; settled; }
asked() { hear; begin; }
leave() { while hear; do :; done; exit 0; }
gate() { until test -e "$home/$1"; do test -d "$home" || exit 1; sleep 0.02; done; }
"#;

/// A directory with a project, an agent directory and a script that plays pi.
pub(crate) fn stage(script: &str) -> TempDir {
    let root = tempfile::tempdir().expect("a temporary directory is created");
    for directory in ["project/.git", "agent", "sessions"] {
        fs::create_dir_all(root.path().join(directory)).expect("the directory is created");
    }
    fs::write(root.path().join("pi.sh"), format!("{WORDS}\n{script}\n")).expect("the file is written");
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
