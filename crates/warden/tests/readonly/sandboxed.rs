//! Running a command of a scene, below a warden in the sandbox and without.

use std::ffi::OsString;
use std::io::{IoSlice, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use pi_subagent_warden::{Abilities, Ending, MAX_MESSAGE, Mechanism, Options, Order, Report, Sandbox};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};

use crate::scene::Scene;

/// Far more than any attempt takes on a machine under load.
const PATIENCE: Duration = Duration::from_secs(60);
/// The interval at which a running program is checked.
const TICK: Duration = Duration::from_millis(2);

/// The result of a command in the sandbox.
#[derive(Debug, Default)]
pub(crate) struct Ran {
    /// The exit code; `None` if it was never started or ended by a signal.
    pub(crate) code: Option<i32>,
    pub(crate) text: String,
    /// The active mechanisms; empty if it was refused.
    pub(crate) mechanisms: Vec<Mechanism>,
    /// True if its warden was there to the end.
    pub(crate) was_guarded: bool,
}

/// The warden, where every user can execute it.
pub(crate) fn warden(scene: &Scene) -> PathBuf {
    let copy = scene.path("warden");
    if !copy.exists() {
        std::fs::copy(env!("CARGO_BIN_EXE_pi-subagent-warden"), &copy).expect("it was built with this test");
    }
    copy
}

/// Returns the warden's report on the features of this machine for the scene's user.
pub(crate) fn probe(scene: &Scene) -> Abilities {
    let (_, text) = finish(scene.command(warden(scene)).arg("--probe"));
    Abilities::parse(&text).unwrap_or_else(|| panic!("no warden answered: {text}"))
}

/// Runs a command in a sandbox in which the scene's own directories can be written.
pub(crate) fn sandboxed(scene: &Scene, metadata: bool, directory: &Path, command: &[&str]) -> Ran {
    let sandbox = Sandbox { writable: scene.writable(), metadata, ..Sandbox::default() };
    in_sandbox(scene, &sandbox, directory, command, &[])
}

/// Runs a command in a sandbox, below a warden that `before` starts.
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
    guarded(scene, &options, directory, before, &[])
}

/// Runs a command below a warden with these options and a few more environment variables.
pub(crate) fn guarded(
    scene: &Scene,
    options: &Options,
    directory: &Path,
    before: &[&str],
    environment: &[(&str, OsString)],
) -> Ran {
    let warden = warden(scene);
    let mut start = match before {
        [] => scene.command(&warden),
        [first, rest @ ..] => {
            let mut start = scene.command(first);
            start.args(rest).arg(&warden);
            start
        }
    };
    let kind = (AddressFamily::UNIX, SocketType::SEQPACKET);
    let (ours, theirs) = socketpair(kind.0, kind.1, SocketFlags::CLOEXEC, None).expect("a control socket");
    set_socket_timeout(&ours, Timeout::Recv, Some(PATIENCE)).expect("it is a socket");
    let (mut child, output) = spawn(
        start
            .args(options.to_args())
            .envs(environment.iter().cloned())
            .current_dir(directory)
            .stdin(Stdio::from(theirs)),
    );
    let mut ran = converse(&ours);
    // Without its host, a warden that is still there ends everything.
    drop(ours);
    child.wait().expect("it is our child");
    ran.text += &output.join().expect("reading does not panic");
    ran
}

/// Lets the child start, and listens until its tree has ended.
fn converse(warden: &OwnedFd) -> Ran {
    let nothing = std::fs::File::open("/dev/null").expect("every system has it");
    let descriptors = [nothing.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(&descriptors));
    let order = IoSlice::new(Order::Start.as_str().as_bytes());
    let mut ran = Ran::default();
    if sendmsg(warden, &[order], &mut control, SendFlags::NOSIGNAL).is_err() {
        return ran;
    }
    let mut bytes = [0; MAX_MESSAGE];
    while let Ok(message) = recvmsg(
        warden,
        &mut [IoSliceMut::new(&mut bytes)],
        &mut RecvAncillaryBuffer::new(&mut []),
        RecvFlags::empty(),
    ) {
        match Report::parse(&bytes[..message.bytes]) {
            Some(Report::Started(mechanisms)) => ran.mechanisms = mechanisms,
            Some(Report::Ended(Ending::Code(code))) => ran.code = Some(code),
            Some(Report::TreeEnded(_)) => {
                ran.was_guarded = true;
                break;
            }
            Some(Report::Ended(ended @ Ending::Signal { .. })) => ran.text = format!("{ended:?}; "),
            failed @ (Some(Report::Failed { .. }) | None) => {
                ran.text = format!("the warden said {failed:?}; ");
                break;
            }
            Some(_) => {}
        }
    }
    ran
}

/// Runs a command to its end, without a sandbox. Its output is short.
pub(crate) fn finish(command: &mut Command) -> (Option<i32>, String) {
    let (mut child, output) = spawn(command.stdin(Stdio::null()));
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
    (status.code(), output.join().expect("reading does not panic"))
}

fn spawn(command: &mut Command) -> (Child, JoinHandle<String>) {
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    command.stdout(writer.try_clone().expect("a descriptor")).stderr(writer);
    let child = loop {
        match command.spawn() {
            // Another thread was starting a program when this one was being written.
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => std::thread::yield_now(),
            started => break started.expect("the program can be started"),
        }
    };
    // The command holds the other ends of the pipe and of the socket.
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let output = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        drop(reader.read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    });
    (child, output)
}
