//! Decides which extensions a child loads, and whether it has to download an extension or a tool.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::resolve::ResolvedRun;
use crate::run::context::{BUILT_IN_PROVIDER, HostContext};
use agents::Source;
use agents::config::InheritExtensions;

/// The prefix of the names of pi's built-in extensions.
const PREFIX: &str = "builtin:";
/// The built-in extension that connects to MCP servers.
pub(crate) const MCP: &str = "builtin:mcp";
/// The prefix of the names of MCP tools.
const MCP_TOOLS: &str = "mcp__";
/// Single tools, each with the built-in extension that provides it.
const TOOLS: [(&str, &str); 5] = [
    ("list_mcp_resources", MCP),
    ("list_mcp_resource_templates", MCP),
    ("read_mcp_resource", MCP),
    ("codemode", "builtin:codemode"),
    ("tool_search", "builtin:tool-search"),
];
/// The provider of llama.cpp models, and the built-in extension behind it.
const LLAMA: (&str, &str) = (BUILT_IN_PROVIDER, "builtin:llama.cpp");

/// pi's tools that run an external program, with the names of that program. pi downloads the program if none is found.
const PROGRAMS: [(&str, &[&str]); 2] = [("grep", &["rg"]), ("find", &["fd", "fdfind"])];
/// The directory in the agent directory in which pi keeps downloaded programs.
const BIN: &str = "bin";

/// The extensions that a child loads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extensions {
    /// The extensions that pi loads by default.
    All,
    /// Only these.
    Only(Vec<String>),
}

impl ResolvedRun {
    /// Returns the extensions that a child with these tools loads.
    ///
    /// `auto` loads the extensions that provide one of the tools. A model's provider cannot be traced to a file, so a
    /// model from a user's extension loads all extensions. A project's agent may only choose among extensions that its
    /// child would load anyway or that the user's configuration lists, because loading a file runs it.
    ///
    /// The user's permission hooks always come first.
    #[must_use]
    pub(crate) fn extensions(&self, context: &HostContext, tools: &[String]) -> Extensions {
        match self.chosen(context, tools) {
            Extensions::All
                if context.host.only_named_extensions && self.launcher.remote_name().is_none() =>
            {
                Extensions::Only(self.of_host(context))
            }
            Extensions::All => Extensions::All,
            Extensions::Only(chosen) => {
                let others = chosen.into_iter().filter(|file| !self.permission_hooks.contains(file));
                Extensions::Only(self.permission_hooks.iter().cloned().chain(others).collect())
            }
        }
    }

    /// Returns the files of the hosting pi's extensions, for a child that loads all of them. A child cannot find by
    /// itself the extensions from the host's command line, nor the extensions of a project that is trusted for this
    /// session. Blocks.
    #[must_use]
    pub(crate) fn of_host(&self, context: &HostContext) -> Vec<String> {
        if self.launcher.remote_name().is_some() {
            return Vec::new();
        }
        let loaded = context.host.extensions.iter().flatten();
        // pi exits if a file that it is told to load is missing.
        let existing = loaded.map(|extension| &extension.path).filter(|path| path.is_file());
        let files: Vec<String> = existing.map(|path| path.to_string_lossy().into_owned()).collect();
        // The host's order matters: if two extensions register the same provider, the last one counts.
        let permission_hooks = self.permission_hooks.iter().filter(|hook| !files.contains(hook)).cloned();
        permission_hooks.chain(files.iter().cloned()).collect()
    }

    fn chosen(&self, context: &HostContext, tools: &[String]) -> Extensions {
        let anchored = |files: &[String]| files.iter().map(|file| context.anchored(file)).collect();
        let configured = match &self.config.inherit_extensions {
            InheritExtensions::Only(list) => Extensions::Only(anchored(list)),
            InheritExtensions::All => Extensions::All,
            InheritExtensions::None => Extensions::Only(Vec::new()),
            InheritExtensions::Auto if context.host.extends(self.model.as_deref()) => Extensions::All,
            InheritExtensions::Auto => Extensions::Only(providers(context, tools)),
        };
        let Some(own) = self.agent.extensions.as_deref() else { return configured };
        let own: Vec<String> = anchored(own);
        if self.agent.source != Source::Project {
            return Extensions::Only(own);
        }
        let allowed = match configured {
            Extensions::Only(list) => list,
            Extensions::All => providers(context, tools),
        };
        Extensions::Only(own.into_iter().filter(|file| allowed.contains(file)).collect())
    }

    /// Returns true if a child with these tools has an extension that could ask its user something. Nothing else in pi
    /// asks.
    #[must_use]
    pub(crate) fn may_ask(&self, context: &HostContext, tools: &[String]) -> bool {
        let chosen = self.extensions(context, tools);
        chosen != Extensions::Only(Vec::new()) || !builtin_needed(tools, self.provider()).is_empty()
    }
}

/// Returns pi's built-in extensions that provide one of these tools or this provider.
pub(crate) fn builtin_needed(tools: &[String], provider: Option<&str>) -> Vec<&'static str> {
    let of_tool = |tool: &String| {
        let named = TOOLS.iter().find(|(name, _)| name == tool).map(|(_, extension)| *extension);
        if tool.starts_with(MCP_TOOLS) { Some(MCP) } else { named }
    };
    let of_provider = provider.filter(|provider| *provider == LLAMA.0).map(|_| LLAMA.1);
    let mut needed: Vec<&str> = tools.iter().filter_map(of_tool).chain(of_provider).collect();
    needed.sort_unstable();
    needed.dedup();
    needed
}

/// Returns true if a child with these tools, extensions and environment, which has no programs of the directories
/// `untrusted`, would download something. Blocks.
pub(crate) fn may_download(
    tools: &[String],
    extensions: &Extensions,
    agent_dir: &Path,
    env: &[(OsString, OsString)],
    untrusted: &[PathBuf],
) -> bool {
    downloads_programs(tools, agent_dir, env, untrusted)
        || matches!(extensions, Extensions::Only(list) if list.iter().any(is_package))
}

/// Returns true if a child with these tools and this environment would download a program. Blocks.
pub(crate) fn downloads_programs(
    tools: &[String],
    agent_dir: &Path,
    env: &[(OsString, OsString)],
    untrusted: &[PathBuf],
) -> bool {
    let is_wanted = |(tool, _): (&str, _)| tools.iter().any(|wanted| wanted == tool);
    missing_programs(agent_dir, env, untrusted).into_iter().any(is_wanted)
}

/// Returns pi's tools whose program pi would not find outside of the directories `untrusted`, each with the program's
/// name. Blocks.
pub(crate) fn missing_programs(
    agent_dir: &Path,
    env: &[(OsString, OsString)],
    untrusted: &[PathBuf],
) -> Vec<(&'static str, &'static str)> {
    let is_installed = |name: &&str| {
        let fetched = fetched_programs(agent_dir).join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
        fetched.exists() || supervisor::resolve_program(name.as_ref(), env, untrusted).is_ok()
    };
    let missing = PROGRAMS.iter().filter(|(_, names)| !names.iter().any(is_installed));
    missing.map(|(tool, names)| (*tool, names[0])).collect()
}

/// Returns the directory in which pi keeps downloaded programs.
pub(crate) fn fetched_programs(agent_dir: &Path) -> PathBuf {
    agent_dir.join(BIN)
}

/// Returns true if an extension is a package, such as `npm:tools` or `git:github.com/user/tools`. Files and built-in
/// extensions are not packages.
fn is_package(extension: &String) -> bool {
    let is_named = !Path::new(extension).is_absolute() && extension.contains(':');
    is_named && !extension.starts_with(PREFIX)
}

/// Returns the extensions that provide these tools.
fn providers(context: &HostContext, tools: &[String]) -> Vec<String> {
    let host = context.host.tools.iter().flatten();
    let needed = host.filter(|tool| tools.contains(&tool.name)).filter_map(|tool| tool.extension.clone());
    let mut files: Vec<String> = needed.collect();
    files.sort_unstable();
    files.dedup();
    files
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_child_needs_the_extensions_that_provide_its_tools_and_its_model() {
        let cases = [
            (&["read", "bash"][..], None, &[][..]),
            (&["read"], Some("anthropic"), &[]),
            (&["read", "mcp__git__log", "mcp__web__*"], None, &["builtin:mcp"]),
            (&["read_mcp_resource", "codemode"], None, &["builtin:codemode", "builtin:mcp"]),
            (&["tool_search"], Some("llama.cpp"), &["builtin:llama.cpp", "builtin:tool-search"]),
        ];
        for (tools, provider, expected) in cases {
            let tools: Vec<String> = tools.iter().map(ToString::to_string).collect();
            assert_eq!(builtin_needed(&tools, provider), expected, "{tools:?}");
        }
    }

    #[test]
    fn only_missing_programs_of_requested_tools_are_downloaded() {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let fetched = root.path().join("full");
        fs::create_dir_all(fetched.join(BIN)).expect("the directory is created");
        for name in ["rg", "fd"] {
            let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
            fs::write(fetched.join(BIN).join(file), "").expect("the file is written");
        }
        let bare = root.path().join("bare");
        let env = vec![("PATH".into(), root.path().join("nothing").into_os_string())];
        let none = || Extensions::Only(Vec::new());
        let only = |file: &str| Extensions::Only(vec![file.to_owned()]);
        let cases = [
            ("both programs are missing", &["grep", "find"][..], none(), &bare, true),
            ("one is", &["read", "find"], none(), &bare, true),
            ("they are not wanted", &["read", "bash"], none(), &bare, false),
            ("pi has fetched them", &["grep", "find"], none(), &fetched, false),
            ("a package", &["read"], only("npm:tools"), &fetched, true),
            ("a repository", &["read"], only("https://example.com/tools"), &fetched, true),
            ("a file", &["read"], only("/ext/a:b.ts"), &fetched, false),
            ("one of pi's own", &["read"], only("builtin:mcp"), &fetched, false),
            ("all that pi loads by itself", &["read"], Extensions::All, &fetched, false),
        ];
        for (label, tools, extensions, agent_dir, expected) in cases {
            let tools: Vec<String> = tools.iter().map(ToString::to_string).collect();
            assert_eq!(may_download(&tools, &extensions, agent_dir, &env, &[]), expected, "{label}");
        }
    }
}
