//! What a sandboxed child does not see.

use std::path::{Path, PathBuf};

use crate::agent::canonical;
use crate::config::Config;
use crate::files::layout;
use crate::run::context::HostContext;

/// The user's own credentials, below pi's directory; models come with keys. The child has copies, without what works
/// only once.
pub(in crate::run) const CREDENTIALS: [&str; 3] = ["auth.json", "mcp-auth.json", "models.json"];

/// The keys of servers, below pi's directory. pi in the child reads this file in its place; the child's tools cannot.
pub(in crate::run) const SERVERS: &str = "mcp.json";

/// Where pi loads the user's extensions from, below its directory: single ones, and those of packages.
const EXTENSIONS: [&str; 3] = ["extensions", "npm", "git"];

/// Returns the files and directories that a sandboxed child does not see: our files, the private trees of runs, the user's
/// credentials, and the configured places. The caller has to show a child its own tree. Links are followed, so that no file is
/// visible under another name. A missing file keeps its configured path. Blocks.
pub(in crate::run) fn hidden(config: &Config, context: &HostContext) -> Vec<PathBuf> {
    let mut found = without_trees(config, context);
    found.push(private_trees(context));
    found.sort();
    found
}

/// Returns the files and directories that git may not read for us: everything hidden from a child or from its tools. Blocks.
pub(in crate::run) fn unreadable(config: &Config, context: &HostContext) -> Vec<PathBuf> {
    let mut found = hidden(config, context);
    found.push(canonical(&context.agent_dir.join(SERVERS)));
    found
}

/// Returns the directory of all private trees. Blocks.
pub(in crate::run) fn private_trees(context: &HostContext) -> PathBuf {
    canonical(&canonical(&context.agent_dir).join(layout::PRIVATE_TREES))
}

/// Returns the private tree around a directory, with everything that belongs to the tree. Blocks.
pub(in crate::run) fn private_tree(context: &HostContext, directory: &Path) -> Option<PathBuf> {
    let trees = private_trees(context);
    let directory = canonical(directory);
    let own = directory.strip_prefix(&trees).ok()?.components().next()?;
    Some(trees.join(own))
}

fn without_trees(config: &Config, context: &HostContext) -> Vec<PathBuf> {
    let ours = [layout::SUBAGENTS].into_iter().chain(CREDENTIALS).map(|name| context.agent_dir.join(name));
    let mut found: Vec<PathBuf> = ours.map(|place| canonical(&place)).collect();
    found.extend(configured(config, context));
    found.sort();
    found.dedup();
    found
}

/// The part of it that is configured. Blocks.
pub(in crate::run) fn configured(config: &Config, context: &HostContext) -> Vec<PathBuf> {
    let places = config.sandbox.hidden.iter();
    let places = places.filter_map(|place| below_home(place, context.home.as_deref()));
    places.map(|place| canonical(&place)).collect()
}

/// The hidden place that a directory lies in, if it lies in one. A private tree that was kept may be worked in. Blocks.
pub(super) fn hides(config: &Config, context: &HostContext, directory: &Path) -> Option<PathBuf> {
    place_of(config, context, &directory.canonicalize().ok()?)
}

/// The same for a directory by a path without links. A child may exchange what lies at another path at any time. Blocks.
pub(super) fn place_of(config: &Config, context: &HostContext, directory: &Path) -> Option<PathBuf> {
    without_trees(config, context).into_iter().find(|place| directory.starts_with(place))
}

/// The directory with extensions of the user that something hidden contains or lies in, and that. A project may hide what it
/// likes, but not a guard of the user's from his children. Blocks.
pub(super) fn hides_extensions(config: &Config, context: &HostContext) -> Option<(PathBuf, PathBuf)> {
    let hidden = hidden(config, context);
    EXTENSIONS.iter().find_map(|name| {
        let directory = context.agent_dir.join(name).canonicalize().ok()?;
        let place =
            hidden.iter().find(|place| directory.starts_with(place) || place.starts_with(&directory))?;
        Some((directory, place.clone()))
    })
}

/// An absolute path, or one below the home directory.
pub(in crate::run) fn below_home(place: &str, home: Option<&Path>) -> Option<PathBuf> {
    let path = match place.strip_prefix("~/") {
        Some(rest) => home?.join(rest),
        None => PathBuf::from(place),
    };
    path.is_absolute().then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_absolute_or_below_the_home_directory() {
        let home = Some(Path::new("/home/me"));
        assert_eq!(below_home("~/.ssh", home), Some("/home/me/.ssh".into()));
        assert_eq!(below_home("/etc/x", home), Some("/etc/x".into()));
        assert_eq!(below_home("x", home), None);
        assert_eq!(below_home("~/.ssh", None), None);
    }

    #[test]
    fn a_directory_is_hidden_by_what_it_lies_in_under_any_name() {
        let root = tempfile::tempdir().expect("a temporary directory");
        let at = |name: &str| root.path().canonicalize().expect("there").join(name);
        for name in
            ["agent/subagents/runs", "agent/subagent-trees/1/p/d", "home/.ssh/keys", "home/.sshd", "project"]
        {
            std::fs::create_dir_all(at(name)).expect("made");
        }
        std::fs::write(at("agent/auth.json"), "{}").expect("written");
        let context = HostContext {
            agent_dir: at("agent"),
            home: Some(at("home")),
            env: Vec::new(),
            config: None,
            pi_command: None,
            warden: None,
            host: crate::run::Host::default(),
        };
        let hides = |name: &str| hides(&Config::default(), &context, &at(name));
        assert_eq!(hides("home/.ssh/keys"), Some(at("home/.ssh")));
        assert_eq!(hides("home/.ssh"), Some(at("home/.ssh")));
        assert_eq!(hides("agent/subagents/runs"), Some(at("agent/subagents")));
        for seen in ["home/.sshd", "home", "project", "agent", "agent/subagent-trees/1/p", "missing"] {
            assert_eq!(hides(seen), None, "{seen}");
        }
        let tree = |name: &str| private_tree(&context, &at(name));
        assert_eq!(tree("agent/subagent-trees/1/p/d"), Some(at("agent/subagent-trees/1")));
        assert_eq!((tree("agent/subagent-trees"), tree("project")), (None, None));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(at("home/.ssh"), at("link")).expect("linked");
            assert_eq!(hides("link/keys"), Some(at("home/.ssh")));
        }
    }
}
