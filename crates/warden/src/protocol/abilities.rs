//! The features that a machine allows a warden. `pi-subagent-warden --probe` prints them, one per line.

use std::fmt;

/// A feature of a machine, or the reason why it is missing.
// The reason crosses the border between two processes as a text for users, so the host knows no cases.
pub type Ability<T> = Result<T, String>;

/// The features that a machine allows a warden, found by trying.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// The version of the warden.
    pub version: String,
    /// Landlock's ABI version.
    pub landlock: Ability<u32>,
    /// An error if a child cannot get a mount namespace in which everything is read-only.
    pub mount_namespace: Ability<()>,
    /// An error if a child cannot get its own `/tmp` and `/dev/shm` in its mount namespace.
    pub temporaries: Ability<()>,
    /// An error if a child cannot get a pid namespace.
    pub pid_namespace: Ability<()>,
    /// An error if the programs started by a child's tools cannot get their own sandbox inside the child's.
    pub tools: Ability<()>,
    /// The directory in which control groups can be made.
    pub cgroup: Ability<String>,
}

impl fmt::Display for Abilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "warden {}", self.version)?;
        for (name, ability) in [
            ("landlock", self.landlock.clone().map(|version| version.to_string())),
            ("mount-ns", self.mount_namespace.clone().map(|()| String::new())),
            ("tmp", self.temporaries.clone().map(|()| String::new())),
            ("pid-ns", self.pid_namespace.clone().map(|()| String::new())),
            ("tools", self.tools.clone().map(|()| String::new())),
            ("cgroup", self.cgroup.clone()),
        ] {
            match ability {
                Ok(value) => writeln!(f, "{name} yes {value}")?,
                Err(reason) => writeln!(f, "{name} no {reason}")?,
            }
        }
        Ok(())
    }
}

impl Abilities {
    /// Parses what `--probe` printed; `None` when no warden printed it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let version = text.lines().next()?.strip_prefix("warden ")?.into();
        let ability = |name: &str| {
            let line = text.lines().skip(1).find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            let line = line.unwrap_or("no not tried");
            let (can, rest) = line.split_once(' ').unwrap_or((line, ""));
            if can == "yes" { Ok(rest.to_owned()) } else { Err(rest.to_owned()) }
        };
        Some(Self {
            version,
            landlock: ability("landlock").map(|version| version.parse().unwrap_or_default()),
            mount_namespace: ability("mount-ns").map(drop),
            temporaries: ability("tmp").map(drop),
            pid_namespace: ability("pid-ns").map(drop),
            tools: ability("tools").map(drop),
            cgroup: ability("cgroup"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_survives_the_round_trip() {
        let able = Abilities {
            version: "0.1.0".into(),
            landlock: Ok(7),
            mount_namespace: Ok(()),
            temporaries: Err("this kernel has no overlay file system".into()),
            pid_namespace: Err("user namespaces are switched off".into()),
            tools: Ok(()),
            cgroup: Ok("/sys/fs/cgroup/a b".into()),
        };
        assert_eq!(Abilities::parse(&able.to_string()), Some(able));
        let untried = Abilities::parse("warden 0.1.0\n").expect("the first line is parsed");
        assert_eq!(untried.cgroup, Err("not tried".into()));
        assert_eq!(Abilities::parse(&untried.to_string()), Some(untried));
        assert_eq!(Abilities::parse("bash: not found\n"), None);
        assert_eq!(Abilities::parse(""), None);
    }
}
