//! What a machine lets a warden do. `pi-subagent-warden --probe` prints it, one ability per line.

use std::fmt;

/// What a machine lets a warden do, found by trying.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Abilities {
    /// The version of the warden.
    pub version: String,
    /// Landlock's ABI version.
    pub landlock: Ability<u32>,
    /// Whether a child can get a mount namespace in which everything is read-only.
    pub mount_namespace: Ability<()>,
    /// Whether a child can get a pid namespace.
    pub pid_namespace: Ability<()>,
    /// The directory in which control groups can be made.
    pub cgroup: Ability<String>,
}

/// Something that a machine can do, or the reason why it cannot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ability<T> {
    /// It can.
    Yes(T),
    /// It cannot; the reason is a text for users.
    No(String),
}

impl<T> Default for Ability<T> {
    fn default() -> Self {
        Self::No("not tried".into())
    }
}

impl<T> Ability<T> {
    /// Whether the machine can do it.
    #[must_use]
    pub fn is_there(&self) -> bool {
        matches!(self, Self::Yes(_))
    }

    /// The reason why the machine cannot do it.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Yes(_) => None,
            Self::No(reason) => Some(reason),
        }
    }

    fn line(&self, name: &str, show: impl Fn(&T) -> String) -> String {
        match self {
            Self::Yes(value) => format!("{name} yes {}", show(value)),
            Self::No(reason) => format!("{name} no {reason}"),
        }
    }
}

impl fmt::Display for Abilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "warden {}", self.version)?;
        writeln!(f, "{}", self.landlock.line("landlock", u32::to_string))?;
        writeln!(f, "{}", self.mount_namespace.line("mount-ns", |()| String::new()))?;
        writeln!(f, "{}", self.pid_namespace.line("pid-ns", |()| String::new()))?;
        writeln!(f, "{}", self.cgroup.line("cgroup", String::clone))
    }
}

impl Abilities {
    /// Parses what `--probe` printed; `None` when no warden printed it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut found =
            Self { version: text.lines().next()?.strip_prefix("warden ")?.into(), ..Self::default() };
        for line in text.lines().skip(1) {
            let mut parts = line.splitn(3, ' ');
            let (name, can) = (parts.next()?, parts.next()? == "yes");
            let rest = parts.next().unwrap_or_default();
            match name {
                "landlock" => found.landlock = ability(can, rest, rest.parse().unwrap_or_default()),
                "mount-ns" => found.mount_namespace = ability(can, rest, ()),
                "pid-ns" => found.pid_namespace = ability(can, rest, ()),
                "cgroup" => found.cgroup = ability(can, rest, rest.to_owned()),
                _ => {}
            }
        }
        Some(found)
    }
}

fn ability<T>(can: bool, reason: &str, value: T) -> Ability<T> {
    if can { Ability::Yes(value) } else { Ability::No(reason.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_survives_the_round_trip() {
        let able = Abilities {
            version: "0.1.0".into(),
            landlock: Ability::Yes(7),
            mount_namespace: Ability::Yes(()),
            pid_namespace: Ability::No("user namespaces are switched off".into()),
            cgroup: Ability::Yes("/sys/fs/cgroup/a b".into()),
        };
        for abilities in [able, Abilities { version: "0.1.0".into(), ..Abilities::default() }] {
            assert_eq!(Abilities::parse(&abilities.to_string()), Some(abilities));
        }
        assert_eq!(Abilities::parse("bash: not found\n"), None);
        assert_eq!(Abilities::parse(""), None);
    }
}
