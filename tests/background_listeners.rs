//! What a conversation is told of its background runs: again where its listener failed, and without starting a turn where
//! a process was lost.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pi_subagent_native::orchestrate::CallOrder;
use pi_subagent_native::orchestrate::background::{
    Ack, BackgroundEvent, BackgroundService, ConversationScope, ConversationView, DeliveryMessage,
    KnownDeliveries, Listener, Receipt, SpawnRequest, background, close_conversation, open_conversation,
};
use pi_subagent_native::process::Cancel;
use pi_subagent_native::run::{Host, HostCallbacks, HostContext};
use serde_json::json;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;

/// Longer than anything here takes, shorter than a person waits for a stuck test.
const PATIENCE: Duration = Duration::from_secs(30);

/// A child that answers whatever it is told, which is its task and then to announce what came of it.
const ANSWERS: &str = r#"while read -r command; do printf '%s\n%s\n' \
    '{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"Done."}],"stopReason":"stop"}}' \
    '{"type":"agent_settled","aborted":false}'
done"#;

/// A directory with an agent directory, a project and what stands in for pi.
fn prepare(root: &Path, script: &str) {
    fs::create_dir_all(root.join("project/.git")).expect("a project");
    fs::create_dir_all(root.join("agent")).expect("an agent directory");
    fs::write(root.join("pi.sh"), script).expect("a script");
}

fn context(root: &Path) -> Arc<HostContext> {
    let pi = root.join("pi.sh").to_string_lossy().into_owned();
    Arc::new(HostContext {
        agent_dir: root.join("agent"),
        home: Some(root.join("home")),
        env: std::env::vars_os().filter(|(name, _)| name == "PATH").collect(),
        config: Some(json!({ "graceMs": 200, "announce": { "triggerTurn": true } })),
        pi_command: Some(vec!["/bin/sh".to_owned(), pi]),
        warden: None,
        host: Host { session_id: Some("conversation".into()), ..Host::default() },
    })
}

async fn spawn(service: &Arc<BackgroundService>, root: &Path) -> String {
    let request = SpawnRequest {
        task: "look around".to_owned(),
        agent: None,
        label: None,
        model: None,
        thinking: None,
        run_timeout_seconds: None,
        cleanup: None,
        models: None,
        cwd: root.join("project"),
        context: context(root),
        created_ms: SpawnRequest::moment(),
        order: Arc::new(CallOrder::now()),
        ends_with: None,
        keeper: None,
        kept: None,
    };
    match pi_subagent_native::orchestrate::background::spawn(service, request, Arc::new(Nobody)).await {
        Receipt::Accepted { run_id, .. } => run_id,
        refused => panic!("{refused:?}"),
    }
}

/// Nobody is there to be asked.
struct Nobody;

impl HostCallbacks for Nobody {}

/// A listener that fails as often as it is told to, whenever there is something to deliver.
struct Failing {
    failures: u32,
    messages: UnboundedSender<DeliveryMessage>,
}

/// A listener that never says whether it has taken something.
struct Stuck(UnboundedSender<BackgroundEvent>);

impl Listener for Stuck {
    async fn notify(&mut self, event: BackgroundEvent) -> Ack {
        self.0.send(event).expect("somebody looks");
        std::future::pending().await
    }
}

impl Listener for Failing {
    async fn notify(&mut self, event: BackgroundEvent) -> Ack {
        let Some(message) = event.message else { return Ack::Accepted };
        // Whoever receives may have seen enough.
        let _ = self.messages.send(message);
        if self.failures == 0 {
            return Ack::Accepted;
        }
        self.failures -= 1;
        Ack::Rejected
    }
}

/// Opens the conversation with a listener that fails so often.
async fn open(
    service: &Arc<BackgroundService>,
    root: &Path,
    failures: u32,
) -> (Arc<ConversationView>, UnboundedReceiver<DeliveryMessage>) {
    let (messages, heard) = unbounded_channel();
    let scope =
        ConversationScope { cwd: root.join("project"), context: context(root), ends_with: Cancel::new() };
    let listener = Failing { failures, messages };
    let view =
        open_conversation(service, "conversation".into(), scope, KnownDeliveries::default(), listener).await;
    (view, heard)
}

async fn next(heard: &mut UnboundedReceiver<DeliveryMessage>) -> DeliveryMessage {
    timeout(PATIENCE, heard.recv()).await.expect("a message comes").expect("the conversation is open")
}

#[tokio::test]
async fn a_listener_that_fails_is_offered_the_same_delivery_again_and_one_that_takes_it_is_not() {
    let root = tempfile::tempdir().expect("a temporary directory");
    prepare(root.path(), ANSWERS);
    let service = background(&root.path().join("agent"));
    let (view, mut heard) = open(&service, root.path(), 2).await;
    let run_id = spawn(&service, root.path()).await;
    let first = next(&mut heard).await;
    assert_eq!((first.runs.len(), &first.runs[0].run_id, first.triggers_turn), (1, &run_id, true));
    for _ in 0..2 {
        let again = next(&mut heard).await;
        assert_eq!(again.delivery_ids, first.delivery_ids);
    }
    // What comes next is of another run: the first was taken.
    let other = spawn(&service, root.path()).await;
    let next = next(&mut heard).await;
    assert_eq!((next.runs.len(), &next.runs[0].run_id), (1, &other));
    close_conversation(&service, &view).await;
}

#[tokio::test]
async fn a_listener_that_keeps_failing_closes_its_conversation_and_the_next_one_gets_the_message() {
    let root = tempfile::tempdir().expect("a temporary directory");
    prepare(root.path(), ANSWERS);
    let service = background(&root.path().join("agent"));
    let (_view, mut heard) = open(&service, root.path(), u32::MAX).await;
    let run_id = spawn(&service, root.path()).await;
    let mut offers = 0;
    while let Some(message) = timeout(PATIENCE, heard.recv()).await.expect("offered, or closed") {
        assert_eq!(message.runs[0].run_id, run_id);
        offers += 1;
    }
    assert_eq!(offers, 6);
    let (view, mut heard) = open(&service, root.path(), 0).await;
    assert_eq!(next(&mut heard).await.runs[0].run_id, run_id);
    close_conversation(&service, &view).await;
}

#[tokio::test]
async fn a_listener_that_never_answers_gets_no_more_events_and_does_not_delay_closing() {
    let root = tempfile::tempdir().expect("a temporary directory");
    prepare(root.path(), ANSWERS);
    let service = background(&root.path().join("agent"));
    let (events, mut told) = unbounded_channel();
    let scope = ConversationScope {
        cwd: root.path().join("project"),
        context: context(root.path()),
        ends_with: Cancel::new(),
    };
    let view =
        open_conversation(&service, "conversation".into(), scope, KnownDeliveries::default(), Stuck(events))
            .await;
    let run_id = spawn(&service, root.path()).await;
    let first = timeout(PATIENCE, told.recv()).await.expect("told in time").expect("it is open");
    assert_eq!(first.runs[0].run_id, run_id);
    close_conversation(&service, &view).await;
    let last = timeout(PATIENCE, told.recv()).await.expect("the listener is let go");
    assert!(last.is_none(), "{last:?}");
}
