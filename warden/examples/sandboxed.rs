//! Enters the sandbox and executes a program: the warden's sandbox without the rest of the warden.

#[path = "../src/sandbox/mod.rs"]
mod sandbox;
#[path = "../src/sys/mod.rs"]
mod sys;

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use pi_subagent_warden::Options;

fn main() -> ExitCode {
    let mut out = std::io::stderr();
    if std::env::args_os().nth(1).is_some_and(|first| first == "--probe") {
        return match writeln!(out, "{:?} {:?}", sandbox::landlock(), sandbox::mount_namespace()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    let options = Options::from_args(std::env::args_os().skip(1)).expect("arguments of a warden");
    if let Some(wanted) = &options.sandbox {
        let begin = std::time::Instant::now();
        let entered = sandbox::Prepared::new(wanted).and_then(sandbox::Prepared::enter);
        let took = begin.elapsed();
        match entered {
            Ok(mechanisms) => {
                let names: Vec<_> = mechanisms.iter().map(|mechanism| mechanism.as_str()).collect();
                drop(writeln!(out, "mechanisms: {} in {} us", names.join(" "), took.as_micros()));
            }
            Err(error) => {
                drop(writeln!(out, "refused: {error}"));
                return ExitCode::from(125);
            }
        }
    }
    let error = Command::new(&options.command[0]).args(&options.command[1..]).exec();
    drop(writeln!(out, "not executed: {error}"));
    ExitCode::from(126)
}
