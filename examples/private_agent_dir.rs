//! Drives a private agent directory from a test: one command per line on standard input, one answer per line.
//!
//! `create REAL AT`, `give-back PROVIDER`, `drop`, `lock FILE MILLISECONDS`, `unlock`. An answer begins with `ok` or `no`.
#![expect(clippy::print_stdout, reason = "standard output is how it answers")]

use std::io::{self, BufRead};

#[cfg(unix)]
fn main() -> io::Result<()> {
    let mut driver = driver::Driver::default();
    for line in io::stdin().lock().lines() {
        let line = line?;
        match driver.obey(&line.split_whitespace().collect::<Vec<_>>()) {
            Ok(answer) => println!("ok {answer}"),
            Err(reason) => println!("no {reason}"),
        }
    }
    Ok(())
}

#[cfg(not(unix))]
fn main() -> io::Result<()> {
    println!("no there is no sandbox on this platform");
    io::stdin().lock().lines().try_for_each(|line| line.map(drop))
}

#[cfg(unix)]
mod driver {
    use std::path::Path;
    use std::time::Duration;

    use pi_subagent_native::run::agent_dir::{AuthLock, PrivateAgentDir};

    #[derive(Default)]
    pub(super) struct Driver {
        private: Option<PrivateAgentDir>,
        lock: Option<AuthLock>,
    }

    impl Driver {
        pub(super) fn obey(&mut self, words: &[&str]) -> Result<String, String> {
            let text = |error: &dyn std::error::Error| error.to_string();
            match words {
                ["create", real, at] => {
                    let made = PrivateAgentDir::create(Path::new(real), Path::new(at));
                    let private = made.map_err(|error| text(&error))?;
                    let left_out = format!("{:?}", private.left_out());
                    self.private = Some(private);
                    Ok(left_out)
                }
                ["give-back", provider] => {
                    let private = self.private.as_ref().ok_or("nothing was created")?;
                    let given = private.give_back(provider).map_err(|error| text(&error))?;
                    Ok(format!("{given:?}"))
                }
                ["drop"] => Ok(format!("{}", self.private.take().is_some())),
                ["lock", file, patience] => {
                    let patience = Duration::from_millis(patience.parse().map_err(|error| text(&error))?);
                    let lock = AuthLock::acquire(Path::new(file), patience).map_err(|error| text(&error))?;
                    let file = lock.file().display().to_string();
                    self.lock = Some(lock);
                    Ok(file)
                }
                ["unlock"] => Ok(format!("{}", self.lock.take().is_some_and(|lock| lock.is_ours()))),
                _ => Err("no such command".to_owned()),
            }
        }
    }
}
