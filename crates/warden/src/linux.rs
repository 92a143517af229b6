//! The warden's main program on Linux.

use std::convert::Infallible;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::exit;

use pi_subagent_warden::{
    Abilities, Ability, Ending, Options, Report, SHORT_OF_RESOURCES, Stage, remove_tree, shortage,
};

use crate::channel::{Channel, ChannelEnd};
use crate::guard::guard;
use crate::script_host::{HOLD, hold};
use crate::start::{At as _, Failure};
use crate::unavailable::Unavailable;
use crate::{guard, sandbox, shell, sys, tree};

/// The exit code of a warden that could not do its work. A child's own code can be the same; the reports on the
/// socket tell them apart.
const UNABLE: i32 = 125;

pub(crate) fn main() {
    let mut args = std::env::args_os();
    if let Some(program) = args.next().filter(|program| shell::is_tool_shell(program)) {
        shell::become_shell(&program, args);
    }
    let args: Vec<OsString> = args.collect();
    if args.first().is_some_and(|arg| arg == "--probe") {
        let abilities = probe().unwrap_or_else(|error| match shortage(&error) {
            Some(short) => refuse(SHORT_OF_RESOURCES, &short.message),
            None => refuse(SHORT_OF_RESOURCES, &error),
        });
        let written = write!(io::stdout(), "{abilities}");
        exit(if written.is_ok() { 0 } else { UNABLE });
    }
    if args.first().is_some_and(|arg| arg == HOLD) {
        let ending = hold(&args[1..]).unwrap_or_else(|error| refuse(UNABLE, &error));
        sys::exit_like(ending);
    }
    let options = Options::from_args(args).unwrap_or_else(|error| refuse(UNABLE, &error));
    sys::block_signals();
    sys::close_from(3);
    let channel = Channel::from_stdin().unwrap_or_else(|error| refuse(UNABLE, &error));
    let Err(failure) = run(&options, &channel);
    if channel.finish(&Report::from(failure)).must_clean_up {
        clean_up(&options, false);
    }
    exit(UNABLE);
}

/// Reports an error on standard error, for a user who starts the warden by hand.
fn refuse(code: i32, error: &dyn std::fmt::Display) -> ! {
    let _ = writeln!(io::stderr(), "pi-subagent-warden: {error}");
    exit(code)
}

fn run(options: &Options, channel: &Channel) -> Result<Infallible, Failure> {
    // Leaves the host's group and terminal, so that no signal sent to those arrives here.
    rustix::process::setsid().at(Stage::Warden)?;
    // Before anything can fail: if the socket is closed with a message unread, the host's next read fails before it
    // gets the last report.
    let stdin = channel.wait_for_start();
    let active = if options.pid_namespace { tree::namespace::enter()? } else { Vec::new() };
    let this = Some(rustix::process::getpid());
    rustix::process::set_child_subreaper(this).at(Stage::Warden)?;
    let (ending, channel_end) = match stdin {
        Some(stdin) => guard(options, channel, stdin, &active)?,
        None => (
            Ending::Code(UNABLE),
            ChannelEnd { must_clean_up: true, keeps_files: false, host_has_died: false },
        ),
    };
    if channel_end.must_clean_up {
        clean_up(options, channel_end.keeps_files);
    }
    if channel_end.host_has_died {
        guard::run_last_command(&options.last_command);
    }
    sys::exit_like(ending)
}

/// Removes the files that the host would have removed. Errors are ignored, because no process remains to receive them.
fn clean_up(Options { scratch, unless_kept, directory, .. }: &Options, keeps_files: bool) {
    let unless_kept = if keeps_files { &[][..] } else { unless_kept };
    scratch.iter().chain(unless_kept).for_each(|path| drop(remove_tree(path)));
    if let Some(directory) = directory {
        // Fails if something in it was kept, and then it stays.
        drop(std::fs::remove_dir(directory));
    }
}

/// Probes which features this machine allows. Leaves nothing changed.
///
/// # Errors
///
/// If the machine is short of a resource, so that nothing can be found out now.
fn probe() -> io::Result<Abilities> {
    Ok(Abilities {
        version: env!("CARGO_PKG_VERSION").into(),
        landlock: ability(sandbox::landlock()?),
        mount_namespace: ability(sandbox::mount_namespace()?),
        temporaries: ability(sandbox::temporaries()?),
        pid_namespace: ability(tree::namespace::pid_namespace()?),
        tools: ability(sandbox::tools()?),
        // Each start tries again, so a shortage does no harm here; `EAGAIN` may also be a limit that stays.
        cgroup: ability(tree::cgroup::cgroup()),
    })
}

/// Converts the reason of a missing feature to the text that the host receives.
fn ability<T>(probed: Result<T, Unavailable>) -> Ability<T> {
    probed.map_err(|reason| reason.to_string())
}
