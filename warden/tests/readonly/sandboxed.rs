//! Running a command of a scene, in the sandbox and without.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use pi_subagent_warden::{Mechanism, Options, Sandbox};

use crate::scene::Scene;

/// Far more than any attempt takes on a machine under load.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often a look is taken at a program that runs.
const TICK: Duration = Duration::from_millis(2);

/// What came of a command in the sandbox.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: ExitStatus,
    pub(crate) text: String,
    /// What held it; nothing when it was refused.
    pub(crate) mechanisms: Vec<Mechanism>,
}

/// The program that enters the sandbox, where every user can execute it.
fn program(scene: &Scene) -> PathBuf {
    let copy = scene.path("sandboxed");
    if !copy.exists() {
        let mut built = std::env::current_exe().expect("this program has a path");
        built.pop();
        built.pop();
        std::fs::copy(built.join("examples/sandboxed"), &copy).expect("it was built with this test");
    }
    copy
}

/// Runs a command in a sandbox in which the scene's own directories can be written.
pub(crate) fn sandboxed(scene: &Scene, metadata: bool, directory: &Path, command: &[&str]) -> Ran {
    let sandbox = Sandbox { writable: scene.writable(), metadata };
    in_sandbox(scene, &sandbox, directory, command, &[])
}

/// Runs a command in a sandbox, which is entered by a program that `before` starts.
pub(crate) fn in_sandbox(
    scene: &Scene,
    sandbox: &Sandbox,
    directory: &Path,
    command: &[&str],
    before: &[&str],
) -> Ran {
    let options = Options {
        sandbox: Some(sandbox.clone()),
        command: command.iter().map(Into::into).collect(),
        ..Options::default()
    };
    let program = program(scene);
    let mut start = match before {
        [] => scene.command(&program),
        [first, rest @ ..] => {
            let mut start = scene.command(first);
            start.args(rest).arg(&program);
            start
        }
    };
    let (status, text) = finish(start.args(options.to_args()).current_dir(directory));
    let names = text.lines().find_map(|line| line.strip_prefix("mechanisms: ")).unwrap_or_default();
    let known = [Mechanism::Landlock, Mechanism::MountNamespace];
    let mechanisms =
        known.into_iter().filter(|known| names.split(' ').any(|name| name == known.as_str())).collect();
    Ran { status, text, mechanisms }
}

/// Runs a command to its end. Its output is short.
pub(crate) fn finish(command: &mut Command) -> (ExitStatus, String) {
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    command.stdin(Stdio::null()).stdout(writer.try_clone().expect("a descriptor")).stderr(writer);
    let mut child = loop {
        match command.spawn() {
            // Another thread was starting a program when this one was being written.
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => std::thread::yield_now(),
            started => break started.expect("the program can be started"),
        }
    };
    // The command holds the writing ends of the pipe.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let output = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        drop(reader.read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("it is our child") {
            break status;
        }
        if begin.elapsed() > PATIENCE {
            drop(child.kill());
        }
        std::thread::sleep(TICK);
    };
    (status, output.join().expect("reading does not panic"))
}
