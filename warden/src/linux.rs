//! The warden's main program on Linux.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::exit;

use pi_subagent_warden::{Abilities, Ending, Options, Report, Stage, remove_tree};

use crate::channel::Channel;
use crate::guard::{After, guard};
use crate::start::Failure;
use crate::{cgroup, namespace, sandbox, sys};

/// The exit code of a warden that could not do its work. A child's own code can be the same; the reports on the
/// socket tell them apart.
const UNABLE: i32 = 125;

pub(crate) fn main() {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    if args.first().is_some_and(|arg| arg == "--probe") {
        let written = write!(io::stdout(), "{}", probe());
        exit(if written.is_ok() { 0 } else { UNABLE });
    }
    let options = Options::from_args(args).unwrap_or_else(|error| refuse(&error));
    sys::block_signals();
    sys::close_from(3);
    let channel = Channel::from_stdin().unwrap_or_else(|error| refuse(&error));
    match run(&options, &channel) {
        Ok(()) => {}
        Err(failure) => {
            let last = Report::Failed { stage: failure.stage, errno: failure.errno() };
            if channel.part(&last).host_gone {
                clean_up(&options, false);
            }
            exit(UNABLE);
        }
    }
}

/// Reports an error on standard error, where somebody who starts the warden by hand can see it.
fn refuse(error: &dyn std::error::Error) -> ! {
    let _ = writeln!(io::stderr(), "pi-subagent-warden: {error}");
    exit(UNABLE)
}

fn run(options: &Options, channel: &Channel) -> Result<(), Failure> {
    let failed = Failure::at(Stage::Warden);
    // Leaves the host's group and terminal, so that no signal sent to those arrives here.
    rustix::process::setsid().map_err(|error| failed(error.into()))?;
    // Before anything can fail: if the socket is closed with a message unread, the host's next read fails before it
    // gets the last report.
    let stdin = channel.wait_for_start();
    let held = if options.pid_namespace { namespace::enter()? } else { Vec::new() };
    let this = Some(rustix::process::getpid());
    rustix::process::set_child_subreaper(this).map_err(|error| failed(error.into()))?;
    let after = match stdin {
        Some(stdin) => guard(options, channel, stdin, &held)?,
        None => After { ending: Ending::Code(UNABLE), host_gone: true, kept: false },
    };
    if after.host_gone {
        clean_up(options, after.kept);
    }
    sys::die_like(after.ending)
}

/// Removes what the host would have removed. Errors are ignored, because there is nobody to report them to.
fn clean_up(Options { scratch, unless_kept, directory, .. }: &Options, kept: bool) {
    let unless_kept = if kept { &[][..] } else { unless_kept };
    scratch.iter().chain(unless_kept).for_each(|path| drop(remove_tree(path)));
    if let Some(directory) = directory {
        // Fails if something in it was kept, and then it stays.
        drop(std::fs::remove_dir(directory));
    }
}

/// Tries out what this machine allows. Leaves nothing changed.
fn probe() -> Abilities {
    Abilities {
        version: env!("CARGO_PKG_VERSION").into(),
        landlock: sandbox::landlock(),
        mount_namespace: sandbox::mount_namespace(),
        pid_namespace: namespace::pid_namespace(),
        cgroup: cgroup::cgroup(),
    }
}
