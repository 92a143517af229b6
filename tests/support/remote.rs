//! Scenes whose children a launcher starts: a stand-in, or an engine that is set up.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use super::child::Child;
use super::engine::{engine, through};
use super::scene::Scene;

pub(crate) const FAR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/far.sh");
/// A task that a shell would split.
pub(crate) const TASK: &str = "look 'around' $HOME \"and\" `tell`\n\\ é /quit";

/// The place where a child runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Place {
    Here,
    /// Starts the child as `srun` does.
    Words,
    /// Starts the child as `ssh` does.
    Shell,
    /// Starts the child by the program that `npm run test:engines` has set up, in place of the stand-ins.
    Engine,
}

/// The place of a scene.
pub(crate) fn places() -> Vec<Place> {
    match engine() {
        Some(_) => vec![Place::Here, Place::Engine],
        None => vec![Place::Here, Place::Words, Place::Shell],
    }
}

pub(crate) fn remote_places() -> Vec<Place> {
    places().into_iter().filter(|place| *place != Place::Here).collect()
}

pub(crate) fn launcher(root: &Path, quote: &str) -> Value {
    let text = |name: &str| root.join(name).to_string_lossy().into_owned();
    json!({
        "command": ["/bin/sh", FAR, quote, text("far"), "{argv}"],
        "cancel": ["/bin/sh", "-c", format!("echo {{runId}} >>{}", text("cancelled"))],
        "piCommand": ["/bin/sh", text("pi.sh")],
        "cwd": text("far"),
        "quote": quote,
        "env": ["NAMED"],
    })
}

/// A scene in which the explorer's children run at a place.
pub(crate) fn at(place: Place, child: Child, config: &Value) -> Scene {
    let mut scene = Scene::new(child, json!({}));
    let mut all = json!({ "graceMs": 200, "retry": { "enabled": false } });
    let quote = if place == Place::Words { "words" } else { "sh" };
    all["launchers"] = json!({ "far": launcher(scene.root.path(), quote) });
    if let (Place::Engine, Some(engine)) = (place, engine()) {
        through(&engine, &mut all["launchers"]["far"], &scene.path("cancelled"));
        all["launchers"]["far"]["cwd"] = scene.path("far").to_string_lossy().into();
        fs::create_dir_all(scene.path("far")).expect("the directory is created");
    }
    all["launcher"] = if place == Place::Here { "local" } else { "far" }.into();
    all.as_object_mut()
        .expect("the value is an object")
        .extend(config.as_object().expect("the value is an object").clone());
    scene.spec.task = TASK.into();
    let context = Arc::make_mut(&mut scene.spec.context);
    context.config = Some(all);
    scene
}

pub(crate) fn read(scene: &Scene, name: &str) -> String {
    fs::read_to_string(scene.path(name)).unwrap_or_default()
}

/// A child that writes its PID, works, and continues as long as its host exists.
pub(crate) fn endless(protocol: &str) -> Child {
    Child::new()
        .runs(r#"echo $$ >"$home/pid""#)
        .then(Child::working_in(protocol))
        .says("So far.")
        .with_stop_reason("toolUse")
        .waits_for("never")
}

/// Limits that end a child once it has made enough progress. The first is enough on an idle machine. Each costs its whole time if a child never ends by itself.
const LIMITS_MS: [u64; 3] = [1_500, 6_000, 24_000];

/// Plays a scene with longer and longer limits, until its child made enough progress before the limit ended it: the start time
/// depends on the load of the machine. `play` gets milliseconds and returns whether the child got far enough.
pub(crate) async fn with_longer_limits(case: &str, mut play: impl AsyncFnMut(u64) -> bool) {
    for limit in LIMITS_MS {
        if play(limit).await {
            return;
        }
    }
    panic!("{case}: the child did not reach the expected state in {LIMITS_MS:?} ms");
}
