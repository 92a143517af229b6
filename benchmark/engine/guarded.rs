//! What a warden costs: to start a child through it, to keep it, and what its sandbox adds to a child's work.

use std::error::Error;
use std::fs::File;
use std::io::{self, IoSlice, Read as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use pi_subagent_warden::{MAX_MESSAGE, Mechanism, Options, Order, Report, Sandbox};
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
    recv, sendmsg, socketpair,
};
use serde_json::{Value, json};

/// How often a file is opened to learn what one time costs.
const OPENS: u32 = 20_000;

/// Long enough for a warden to have looked at its tree several times.
const SETTLED: Duration = Duration::from_millis(700);

/// The ways to start a child.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// As any program starts one, in a process group of its own.
    Plain,
    /// Through a warden.
    Warden,
    /// Through a warden, in a pid namespace.
    PidNamespace,
    /// Through a warden, allowed to read only.
    ReadOnly,
    /// The same, with modes, owners, times and attributes.
    Metadata,
}

const WAYS: [(Way, &str); 5] = [
    (Way::Plain, "plain"),
    (Way::Warden, "warden"),
    (Way::PidNamespace, "pidNamespace"),
    (Way::ReadOnly, "readOnly"),
    (Way::Metadata, "metadata"),
];

/// Starts a child in each way, in turn, `count` times, and tells everything about it that is to be compared.
pub(crate) fn measure(warden: &str, folder: &str, count: &str) -> Result<Value, Box<dyn Error>> {
    let host = Host { warden: Path::new(warden), folder: Path::new(folder) };
    let count: usize = count.parse()?;
    let mut found = WAYS.map(|(way, name)| (way, name, host.is_possible(way), Vec::new(), Vec::new()));
    // The first start of each pays for reading the programs.
    for round in 0..=count {
        for (way, _, is_possible, calls, bytes) in &mut found {
            if is_possible.is_some() {
                let (call, byte) = host.time(*way)?;
                if round > 0 {
                    calls.push(call.as_secs_f64() * 1000.0);
                    bytes.push(byte.as_secs_f64() * 1000.0);
                }
            }
        }
    }
    let mut ways = serde_json::Map::new();
    for (way, name, mechanisms, calls, bytes) in found {
        let Some(mechanisms) = mechanisms else { continue };
        let mechanisms: Vec<_> = mechanisms.into_iter().map(Mechanism::as_str).collect();
        let opens = host.opens(way)?;
        ways.insert(
            name.into(),
            json!({ "mechanisms": mechanisms, "callMs": calls, "byteMs": bytes, "openNs": opens }),
        );
    }
    Ok(json!({ "ways": ways, "residentKib": host.resident()? }))
}

/// Opens a file again and again, and prints the nanoseconds that one time takes.
pub(crate) fn opens(path: &str) -> io::Result<Value> {
    let batch = || -> io::Result<u64> {
        let started = Instant::now();
        for _ in 0..OPENS {
            File::open(path)?;
        }
        Ok(u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX) / u64::from(OPENS))
    };
    let mut batches = (0..5).map(|_| batch()).collect::<io::Result<Vec<_>>>()?;
    batches.sort_unstable();
    Ok(json!({ "ns": batches[batches.len() / 2] }))
}

/// Whoever starts children.
struct Host<'a> {
    warden: &'a Path,
    folder: &'a Path,
}

/// A child and what belongs to it.
struct Started {
    process: Child,
    stdout: ChildStdout,
    /// The child's standard input and the lifeline, where there is a warden.
    held: Option<(File, OwnedFd)>,
}

impl Host<'_> {
    /// Starts a child, and tells how long the call took and when the first byte of its output was there.
    fn time(&self, way: Way) -> io::Result<(Duration, Duration)> {
        let began = Instant::now();
        let mut started = self.start(way, &["/bin/echo", "ready"])?;
        let call = began.elapsed();
        let mut byte = [0];
        started.stdout.read_exact(&mut byte)?;
        let first = began.elapsed();
        started.end()?;
        Ok((call, first))
    }

    /// What holds a child that is started like this; `None` where this machine does not allow it.
    fn is_possible(&self, way: Way) -> Option<Vec<Mechanism>> {
        let started = self.start(way, &["/bin/echo"]).ok()?;
        let Some((_, lifeline)) = &started.held else {
            let _ = started.end();
            return Some(Vec::new());
        };
        let mut mechanisms = None;
        let mut message = [MaybeUninit::uninit(); MAX_MESSAGE];
        while let Ok(((bytes, _), length)) = recv(lifeline, &mut message, RecvFlags::empty()) {
            match Report::parse(bytes) {
                Some(Report::Started { mechanisms: held, .. }) => mechanisms = Some(held),
                Some(Report::Gone(_)) => break,
                _ if length == 0 => break,
                _ => {}
            }
        }
        let _ = started.end();
        let wanted = match way {
            Way::Metadata => Some(Mechanism::MountNamespace),
            Way::PidNamespace => Some(Mechanism::PidNamespace),
            Way::Plain | Way::Warden | Way::ReadOnly => None,
        };
        mechanisms.filter(|held| wanted.is_none_or(|wanted| held.contains(&wanted)))
    }

    /// What one `open` costs a child, in nanoseconds.
    fn opens(&self, way: Way) -> Result<u64, Box<dyn Error>> {
        let program = std::env::current_exe()?;
        let program = program.to_str().ok_or("the path of this program is not UTF-8")?;
        let mut started = self.start(way, &[program, "opens", program])?;
        let mut report = String::new();
        started.stdout.read_to_string(&mut report)?;
        started.end()?;
        serde_json::from_str::<Value>(&report)?["ns"]
            .as_u64()
            .ok_or_else(|| "the child reports nothing".into())
    }

    /// What a warden with a child that waits has resident, in KiB.
    fn resident(&self) -> io::Result<u64> {
        let started = self.start(Way::Warden, &["/bin/cat"])?;
        std::thread::sleep(SETTLED);
        let status = std::fs::read_to_string(format!("/proc/{}/status", started.process.id()));
        started.end()?;
        status?
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:")?.split_whitespace().next()?.parse().ok())
            .ok_or_else(|| io::Error::other("a warden has no VmRSS"))
    }

    fn start(&self, way: Way, words: &[&str]) -> io::Result<Started> {
        let Some(options) = self.options(way, words) else {
            let mut command = Command::new(words[0]);
            let command = command.args(&words[1..]).process_group(0);
            let mut process = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
            return Ok(Started { stdout: output(&mut process)?, process, held: None });
        };
        let (ours, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        let (read, write) = io::pipe()?;
        let mut command = Command::new(self.warden);
        let mut process =
            command.args(options.to_args()).stdin(Stdio::from(theirs)).stdout(Stdio::piped()).spawn()?;
        // The command keeps the other end, which would outlive the warden.
        drop(command);
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut along = SendAncillaryBuffer::new(&mut space);
        let descriptors = [read.as_fd()];
        along.push(SendAncillaryMessage::ScmRights(&descriptors));
        let order = [IoSlice::new(Order::Start.as_str().as_bytes())];
        sendmsg(&ours, &order, &mut along, SendFlags::NOSIGNAL)?;
        let input = File::from(OwnedFd::from(write));
        Ok(Started { stdout: output(&mut process)?, process, held: Some((input, ours)) })
    }

    fn options(&self, way: Way, words: &[&str]) -> Option<Options> {
        let sandbox = |metadata| Some(Sandbox { writable: vec![self.folder.to_path_buf()], metadata });
        let options = Options {
            grace: Duration::from_secs(1),
            command: words.iter().map(Into::into).collect(),
            ..Options::default()
        };
        Some(match way {
            Way::Plain => return None,
            Way::Warden => options,
            Way::PidNamespace => Options { pid_namespace: true, ..options },
            Way::ReadOnly => Options { sandbox: sandbox(false), ..options },
            Way::Metadata => Options { sandbox: sandbox(true), ..options },
        })
    }
}

impl Started {
    /// Lets go of the child's input and waits for its end, and for that of its warden.
    fn end(mut self) -> io::Result<()> {
        let lifeline = self.held.take().map(|(_, lifeline)| lifeline);
        io::copy(&mut self.stdout, &mut io::sink())?;
        let status = self.process.wait()?;
        drop(lifeline);
        if status.success() { Ok(()) } else { Err(io::Error::other(format!("a child ended with {status}"))) }
    }
}

fn output(process: &mut Child) -> io::Result<ChildStdout> {
    process.stdout.take().ok_or_else(|| io::Error::other("a child has no output"))
}
