//! Measures the cost of a warden: starting a child through it, keeping it running, and the sandboxes' part in a child's
//! start and work.

use std::error::Error;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use supervisor::{
    Activity, Cancel, ChildCommand, Guardian, Input, Mechanism, Observer, Options, Outcome, Sandbox,
    SuperviseLimits, Supervised, supervise,
};
use tokio::runtime::Runtime;

use super::builds::Tree;
use super::shells;

/// The number of times that a file is opened per measurement.
const OPEN_COUNT: u32 = 20_000;

/// Prints the warden's status after it has sampled its tree several times.
const PRINT_PARENT_STATUS: &str = "sleep 0.7; cat /proc/$PPID/status";

/// The ways to start a child, their names in the report, and the mechanism that must be active.
const WAYS: [(Way, &str, Option<Mechanism>); 6] = [
    (Way::Plain, "plain", None),
    (Way::Warden, "warden", None),
    (Way::PidNamespace, "pidNamespace", Some(Mechanism::PidNamespace)),
    (Way::ReadOnly, "readOnly", Some(Mechanism::Landlock)),
    (Way::Metadata, "metadata", Some(Mechanism::MountNamespace)),
    (Way::Both, "both", Some(Mechanism::PidNamespace)),
];

#[derive(Clone, Copy, Debug)]
enum Way {
    /// In a process group of its own.
    Plain,
    /// Through a warden.
    Warden,
    /// Through a warden, in a pid namespace.
    PidNamespace,
    /// Through a warden, with the read-only sandbox.
    ReadOnly,
    /// Like `ReadOnly`, and also protects modes, owners, times and attributes.
    Metadata,
    /// Like `Metadata`, in a pid namespace with a hidden file and limited files: the sandbox of a real child.
    Both,
}

/// Starts a child in each way, in turn, `count` times, and reports the results.
pub(crate) fn measure(warden: &str, folder: &str, count: &str) -> Result<Value, Box<dyn Error>> {
    let host = Host::new(warden, folder)?;
    let ways = host.ways(&WAYS, count.parse()?, true)?;
    Ok(json!({ "ways": ways, "residentKib": host.resident()? }))
}

/// Starts a child with and without the usual sandbox, in turn, `count` times. Then runs shell commands in such a child,
/// and reports the results.
pub(crate) fn rings(warden: &str, folder: &str, count: &str) -> Result<Value, Box<dyn Error>> {
    let host = Host::new(warden, folder)?;
    let ways = [WAYS[1], WAYS[5]];
    Ok(json!({ "ways": host.ways(&ways, count.parse()?, false)?, "shells": host.shells(count)? }))
}

/// Builds a tree through a warden, without a sandbox and in the sandboxes of a child that may write there, in turn,
/// `count` times. Reports the milliseconds of each build.
pub(crate) fn builds(warden: &str, folder: &str, count: &str) -> Result<Value, Box<dyn Error>> {
    let host = Host::new(warden, folder)?;
    let tree = Tree::new(&host.warden, &host.folder)?;
    let shell = tree.shell.to_str().ok_or("a path is not UTF-8")?;
    let free = host.guardian(Way::Warden);
    let confined = host.guardian(Way::Warden);
    let options = Options { sandbox: Some(tree.sandbox()), pid_namespace: true, ..Options::default() };
    let confined = confined.map(|guardian| Guardian { options, ..guardian });
    let mut freely = Vec::new();
    let mut confinedly = Vec::new();
    for _ in 0..count.parse::<usize>()? {
        for (guardian, shell, times) in [(&free, "/bin/sh", &mut freely), (&confined, shell, &mut confinedly)]
        {
            let run = host.run_in(guardian.clone(), &[shell, "-c", &tree.build()])?;
            if !matches!(run.supervised.outcome, Outcome::Exited(status) if status.success()) {
                return Err(format!("the build failed: {:?}", run.supervised).into());
            }
            times.push(milliseconds(run.supervised.duration));
        }
    }
    Ok(json!({ "freeMs": freely, "confinedMs": confinedly }))
}

/// Opens a file repeatedly, and reports the nanoseconds of one open.
pub(crate) fn opens(path: &str) -> io::Result<Value> {
    let batch = || -> io::Result<u64> {
        let started = Instant::now();
        for _ in 0..OPEN_COUNT {
            File::open(path)?;
        }
        Ok(u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX) / u64::from(OPEN_COUNT))
    };
    let mut batches = (0..5).map(|_| batch()).collect::<io::Result<Vec<_>>>()?;
    batches.sort_unstable();
    Ok(json!({ "ns": batches[batches.len() / 2] }))
}

/// Starts the children.
struct Host {
    runtime: Runtime,
    warden: PathBuf,
    folder: PathBuf,
}

/// A child that has ended.
struct Run {
    first_byte: Duration,
    output: String,
    supervised: Supervised,
}

impl Host {
    fn new(warden: &str, folder: &str) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        Ok(Self { runtime, warden: warden.into(), folder: folder.into() })
    }

    /// Starts a child in each way, in turn, `count` times, and returns the results by name.
    fn ways(
        &self,
        ways: &[(Way, &str, Option<Mechanism>)],
        count: usize,
        opens: bool,
    ) -> Result<Value, Box<dyn Error>> {
        let mut found = Vec::new();
        for (way, name, wanted) in ways {
            // The first start of each way includes loading the programs. It also shows whether this machine supports
            // the way.
            let Ok(first) = self.run(*way, &["/bin/echo", "ready"]) else { continue };
            if wanted.is_none_or(|wanted| first.supervised.mechanisms.contains(&wanted)) {
                found.push((*way, *name, first.supervised.mechanisms, Vec::new(), Vec::new()));
            }
        }
        for _ in 0..count {
            for (way, _, _, bytes, lives) in &mut found {
                let run = self.run(*way, &["/bin/echo", "ready"])?;
                bytes.push(milliseconds(run.first_byte));
                lives.push(milliseconds(run.supervised.duration));
            }
        }
        let mut reports = serde_json::Map::new();
        for (way, name, mechanisms, bytes, lives) in found {
            let mechanisms: Vec<_> = mechanisms.into_iter().map(Mechanism::as_str).collect();
            let mut report = json!({ "mechanisms": mechanisms, "byteMs": bytes, "lifeMs": lives });
            if opens {
                report["openNs"] = self.opens(way)?.into();
            }
            reports.insert(name.to_owned(), report);
        }
        Ok(reports.into())
    }

    /// Returns the time of one `open` in a child, in nanoseconds.
    fn opens(&self, way: Way) -> Result<u64, Box<dyn Error>> {
        let program = std::env::current_exe()?;
        let program = program.to_str().ok_or("the path of this program is not UTF-8")?;
        let output = self.run(way, &[program, "opens", program])?.output;
        serde_json::from_str::<Value>(&output)?["ns"]
            .as_u64()
            .ok_or_else(|| "the child reports nothing".into())
    }

    /// Returns the resident memory of a warden whose child is idle, in KiB.
    fn resident(&self) -> Result<u64, Box<dyn Error>> {
        let status = self.run(Way::Warden, &["/bin/sh", "-c", PRINT_PARENT_STATUS])?.output;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let word = line.and_then(|line| line.split_whitespace().next()).ok_or("a warden has no VmRSS")?;
        Ok(word.parse()?)
    }

    /// Measures the time that the tools' sandbox adds to each of `count` shell commands of a child.
    fn shells(&self, count: &str) -> Result<Value, Box<dyn Error>> {
        let program = std::env::current_exe()?;
        let shells = shells::install(&self.warden, &self.folder)?;
        let texts: Option<Vec<&str>> =
            [&program].into_iter().chain(&shells).map(|path| path.to_str()).collect();
        let texts = texts.ok_or("a path is not UTF-8")?;
        let argv: Vec<&str> =
            [texts[0], "shells", count].into_iter().chain(texts[1..].iter().copied()).collect();
        let output = self.run(Way::Both, &argv)?.output;
        Ok(serde_json::from_str(&output)?)
    }

    fn run(&self, way: Way, argv: &[&str]) -> Result<Run, Box<dyn Error>> {
        self.run_in(self.guardian(way), argv)
    }

    fn run_in(&self, guardian: Option<Guardian>, argv: &[&str]) -> Result<Run, Box<dyn Error>> {
        let command = child(guardian, argv)?;
        let mut watch = Watch { first: None, output: Vec::new() };
        let cancel = Cancel::new();
        let started = Instant::now();
        let run = supervise(
            command,
            Input::once(Vec::new()),
            SuperviseLimits::default(),
            None,
            &cancel,
            &mut watch,
        );
        let supervised = self.runtime.block_on(run)?;
        let first = watch.first.ok_or_else(|| format!("{} said nothing: {supervised:?}", argv[0]))?;
        Ok(Run { first_byte: first - started, output: String::from_utf8(watch.output)?, supervised })
    }

    fn guardian(&self, way: Way) -> Option<Guardian> {
        let sandbox =
            |metadata| Some(Sandbox { writable: vec![self.folder.clone()], metadata, ..Sandbox::default() });
        let whole = Sandbox {
            writable: vec![self.folder.clone()],
            metadata: true,
            hidden: vec!["/etc/shadow".into(), "/var/log".into()],
            file_bytes: Some(1 << 30),
            ..Sandbox::default()
        };
        let options = match way {
            Way::Plain => return None,
            Way::Warden => Options::default(),
            Way::PidNamespace => Options { pid_namespace: true, ..Options::default() },
            Way::ReadOnly => Options { sandbox: sandbox(false), ..Options::default() },
            Way::Metadata => Options { sandbox: sandbox(true), ..Options::default() },
            Way::Both => Options { sandbox: Some(whole), pid_namespace: true, ..Options::default() },
        };
        Some(Guardian { program: self.warden.clone(), options })
    }
}

/// Keeps a child's output and the time of its first byte.
struct Watch {
    first: Option<Instant>,
    output: Vec<u8>,
}

impl Observer for Watch {
    fn stdout(&mut self, chunk: &[u8]) -> Activity {
        self.first.get_or_insert_with(Instant::now);
        self.output.extend_from_slice(chunk);
        Activity::default()
    }
}

/// Returns a command for a program, with this process's environment.
fn child(guardian: Option<Guardian>, argv: &[&str]) -> io::Result<ChildCommand> {
    Ok(ChildCommand {
        program: PathBuf::from(argv[0]),
        args: argv[1..].iter().map(OsString::from).collect(),
        cwd: std::env::current_dir()?,
        env: std::env::vars_os().collect(),
        untrusted: Vec::new(),
        guardian,
    })
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
