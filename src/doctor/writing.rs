//! Checks where agents may write, and whether the tools that they build with can fill their caches.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::check::{Check, Status};
use crate::run::{HostCapabilities, HostContext, WriteScope};
use agents::SandboxMode;
use agents::config::{AllowWrite, Config};
use supervisor::resolve_program;
use worktree::withheld_git_variables;

const AREA: &str = "writing";

/// The cache directories of tools: the program, the variable that names the directory, the path below it, and the default path
/// below the home directory.
const CACHES: [(&str, &str, &str, &str); 6] = [
    ("cargo", "CARGO_HOME", "registry", ".cargo/registry"),
    ("cargo", "CARGO_HOME", "git", ".cargo/git"),
    ("npm", "npm_config_cache", "", ".npm"),
    ("pip", "PIP_CACHE_DIR", "", ".cache/pip"),
    ("go", "GOCACHE", "", ".cache/go-build"),
    ("go", "GOMODCACHE", "", "go/pkg/mod"),
];

/// Reports the variables of git that children do not get, although git would work differently with them.
pub(super) fn git_variables(cwd: &Path, context: &HostContext) -> Option<Check> {
    let start = context.host.cwd.as_deref().unwrap_or(cwd);
    let hint = "start pi without them, or set git variables for children with `env` in subagents.json";
    let withheld = withheld_git_variables(&context.env, start, cwd)?;
    Some(Check::new("git", Status::Warning, withheld).hint(hint))
}

/// Reports the places where agents may write; nothing if none may write.
pub(super) fn writing(
    cwd: &Path,
    config: &Config,
    context: &HostContext,
    capabilities: &HostCapabilities,
) -> Vec<Check> {
    let is_able = capabilities.abilities().is_ok_and(|abilities| abilities.landlock.is_ok());
    match config.allow_write {
        AllowWrite::Nowhere => Vec::new(),
        AllowWrite::Everywhere => {
            let message = "agents that are not readonly may write wherever you can (`allowWrite` is `all`)";
            let hint = "`allowWrite: true` keeps them in the tree of their directory";
            vec![Check::new(AREA, Status::Warning, message).hint(hint)]
        }
        AllowWrite::Tree if config.sandbox.mode == SandboxMode::Off || !is_able => {
            let message = "agents that are not readonly may write wherever you can: without the sandbox nothing keeps them \
                           in their tree";
            vec![Check::new(AREA, Status::Warning, message)]
        }
        AllowWrite::Tree => in_tree(cwd, config, context),
    }
}

fn in_tree(cwd: &Path, config: &Config, context: &HostContext) -> Vec<Check> {
    let (scope, notices) = match WriteScope::of(config, context, cwd) {
        Ok(found) => found,
        Err(refusal) => return vec![Check::new(AREA, Status::Warning, refusal.to_string())],
    };
    let message = format!("agents that are not readonly may write in {}", scope.root.display());
    let missing = missing(&scope, context);
    let check = Check::new(AREA, Status::Ok, message);
    let check = if missing.is_empty() {
        check
    } else {
        let list: Vec<String> = missing.iter().map(|place| format!("\"{place}\"")).collect();
        check.hint(format!(
            "they cannot fill the caches of your tools; to allow it: \"sandbox\": {{ \"writable\": [{}] }}",
            list.join(", ")
        ))
    };
    let gaps = scope.find_protected().gaps().into_iter().chain(notices);
    let gaps = gaps.map(|gap| Check::new(AREA, Status::Warning, gap));
    std::iter::once(check).chain(gaps).collect()
}

/// Returns the existing caches of the tools in `PATH` that children cannot write, spelled as in the configuration.
fn missing(scope: &WriteScope, context: &HostContext) -> Vec<String> {
    let variable =
        |name: &str| context.var(name).filter(|value| !value.is_empty()).map(|value| PathBuf::from(&*value));
    let home = context.home.as_deref();
    let caches =
        CACHES.iter().filter(|(tool, ..)| resolve_program(OsStr::new(tool), &context.env, &[]).is_ok());
    let places = caches.filter_map(|(_, name, below, usual)| {
        variable(name).map(|place| place.join(below)).or_else(|| Some(home?.join(usual)))
    });
    let is_missing = |place: &PathBuf| {
        place.canonicalize().is_ok_and(|real| !scope.writable().any(|writable| real.starts_with(writable)))
    };
    let spelled = |place: PathBuf| match home.and_then(|home| place.strip_prefix(home).ok()) {
        Some(inner) => format!("~/{}", inner.display()),
        None => place.components().collect::<PathBuf>().display().to_string(),
    };
    places.filter(is_missing).map(spelled).collect()
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn caches_of_tools_on_the_path_are_suggested_until_they_are_writable() {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let at = root.path().canonicalize().expect("the path exists");
        for name in
            ["bin", "home/.npm", "home/.cargo/registry", "home/.cache/go-build", "cache/pip", "home/p"]
        {
            fs::create_dir_all(at.join(name)).expect("the directory is created");
        }
        for name in ["cargo", "npm", "pip"] {
            let program = at.join("bin").join(name);
            fs::write(&program, "").expect("the file is written");
            fs::set_permissions(program, fs::Permissions::from_mode(0o755)).expect("the permissions are set");
        }
        let env = [("PATH", at.join("bin")), ("PIP_CACHE_DIR", at.join("cache/pip"))];
        let context = HostContext {
            agent_dir: at.join("agent"),
            home: Some(at.join("home")),
            env: env.map(|(name, value)| (name.into(), value.into())).to_vec(),
            config: None,
            pi_command: None,
            warden: None,
            host: crate::run::Host::default(),
        };
        let mut config = Config { allow_write: AllowWrite::Tree, ..Config::default() };
        let hint = |config: &Config| in_tree(&at.join("home/p"), config, &context)[0].hint.clone();
        let pip = at.join("cache/pip").display().to_string();
        let hint_text = hint(&config).expect("the check has a hint");
        assert!(
            hint_text.ends_with(&format!(r#"["~/.cargo/registry", "~/.npm", "{pip}"] }}"#)),
            "{hint_text}"
        );
        config.sandbox.writable = vec!["~/.cargo/registry".into(), "~/.npm".into(), pip];
        assert_eq!(hint(&config), None);
        config.sandbox.writable.push("~/.missing".into());
        let last =
            in_tree(&at.join("home/p"), &config, &context).pop().expect("at least one check is reported");
        assert!(last.status == Status::Warning && last.message.contains("`~/.missing`"), "{last:?}");
    }
}
