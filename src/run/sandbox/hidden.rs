//! The files and directories that a sandboxed child does not see.

use std::path::{Path, PathBuf};

use crate::run::context::HostContext;
use agents::config::Config;
pub(crate) use files::below_home;
use files::{canonical, layout};

/// The user's own credentials, below pi's directory; models come with keys. The child gets copies, without tokens that
/// work only once.
pub(crate) const CREDENTIALS: [&str; 3] = ["auth.json", "mcp-auth.json", "models.json"];

/// The configuration of MCP servers with their keys, below pi's directory. The child's pi reads this file; the child's
/// tools cannot.
pub(crate) const SERVERS: &str = "mcp.json";

/// The directories below pi's directory from which pi loads the user's extensions: single ones and packages.
const EXTENSIONS: [&str; 3] = ["extensions", "npm", "git"];

/// Returns the files and directories that a sandboxed child does not see: our files, the private trees of runs, the
/// user's credentials, and the configured paths. The caller has to show a child its own tree. Follows links, so that
/// no file is visible under another name. A missing file keeps its configured path. Blocks.
pub(crate) fn hidden(config: &Config, context: &HostContext) -> Vec<PathBuf> {
    let mut found = without_trees(config, context);
    found.push(private_trees(context));
    found.sort();
    found
}

/// Returns the files and directories that git may not read for us: everything hidden from a child or from its tools.
/// Blocks.
pub(crate) fn unreadable(config: &Config, context: &HostContext) -> Vec<PathBuf> {
    let mut found = hidden(config, context);
    found.push(canonical(&context.agent_dir.join(SERVERS)));
    found
}

/// Returns the directory of all private trees. Blocks.
pub(crate) fn private_trees(context: &HostContext) -> PathBuf {
    canonical(&canonical(&context.agent_dir).join(layout::PRIVATE_TREES))
}

/// Returns the private tree around a directory, with everything that belongs to the tree. Blocks.
pub(crate) fn private_tree(context: &HostContext, directory: &Path) -> Option<PathBuf> {
    let trees = private_trees(context);
    let directory = canonical(directory);
    let own = directory.strip_prefix(&trees).ok()?.components().next()?;
    Some(trees.join(own))
}

fn without_trees(config: &Config, context: &HostContext) -> Vec<PathBuf> {
    let own = [layout::SUBAGENTS].into_iter().chain(CREDENTIALS).map(|name| context.agent_dir.join(name));
    let mut found: Vec<PathBuf> = own.map(|place| canonical(&place)).collect();
    found.extend(configured(config, context));
    found.sort();
    found.dedup();
    found
}

/// Returns only the configured paths. Blocks.
pub(crate) fn configured(config: &Config, context: &HostContext) -> Vec<PathBuf> {
    let listed = config.sandbox.hidden.iter().filter_map(|text| {
        let place = canonical(&below_home(text, context.home.as_deref())?);
        // A child may have put a link in the place of a path that a project hides, to a file of the user.
        let is_elsewhere = config.project_hidden.contains(text) && place != Path::new(text);
        (!is_elsewhere).then_some(place)
    });
    listed.collect()
}

/// Returns the hidden path that contains a directory, if any. A kept private tree is not hidden from a child that
/// works in it. Blocks.
pub(crate) fn hides(config: &Config, context: &HostContext, directory: &Path) -> Option<PathBuf> {
    place_of(config, context, &directory.canonicalize().ok()?)
}

/// Does the same for a path without links. A child may replace the target of any other path at any time. Blocks.
pub(crate) fn place_of(config: &Config, context: &HostContext, directory: &Path) -> Option<PathBuf> {
    without_trees(config, context).into_iter().find(|place| directory.starts_with(place))
}

/// Returns a directory of the user's extensions that overlaps with a hidden path, and that path. A project may hide
/// any file except the user's guards from the user's children. Blocks.
pub(crate) fn hides_extensions(config: &Config, context: &HostContext) -> Option<(PathBuf, PathBuf)> {
    let hidden = hidden(config, context);
    EXTENSIONS.iter().find_map(|name| {
        let directory = context.agent_dir.join(name).canonicalize().ok()?;
        let place =
            hidden.iter().find(|place| directory.starts_with(place) || place.starts_with(&directory))?;
        Some((directory, place.clone()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configured_path_is_absolute_or_below_the_home_directory() {
        let home = Some(Path::new("/home/me"));
        assert_eq!(below_home("~/.ssh", home), Some("/home/me/.ssh".into()));
        assert_eq!(below_home("/etc/x", home), Some("/etc/x".into()));
        assert_eq!(below_home("x", home), None);
        assert_eq!(below_home("~/.ssh", None), None);
    }

    #[test]
    fn a_directory_in_a_hidden_one_is_hidden_under_any_name() {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let at = |name: &str| root.path().canonicalize().expect("the path exists").join(name);
        for name in
            ["agent/subagents/runs", "agent/subagent-trees/1/p/d", "home/.ssh/keys", "home/.sshd", "project"]
        {
            std::fs::create_dir_all(at(name)).expect("the directory is created");
        }
        std::fs::write(at("agent/auth.json"), "{}").expect("the file is written");
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
            std::os::unix::fs::symlink(at("home/.ssh"), at("link")).expect("the link is created");
            assert_eq!(hides("link/keys"), Some(at("home/.ssh")));

            let own = at("project/keys").to_string_lossy().into_owned();
            let mut config = Config { project_hidden: vec![own.clone()], ..Config::default() };
            config.sandbox.hidden = vec![own];
            assert_eq!(configured(&config, &context), [at("project/keys")]);
            std::os::unix::fs::symlink(at("home/.sshd"), at("project/keys")).expect("the link is created");
            let none: [PathBuf; 0] = [];
            assert_eq!(configured(&config, &context), none, "a link leads out of the project");
        }
    }
}
