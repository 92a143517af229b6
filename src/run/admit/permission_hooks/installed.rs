//! Lists the extensions that pi loads for the user, read from pi's own files. Used if the hosting pi does not report
//! them.
//!
//! Not included are the extensions of a project, which pi loads only if the user trusts the project, and npm packages
//! in the global directory of an old npm. Ignore files such as `.gitignore` are not read.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::package::{is_package, of_directory, of_package, of_paths, strings};
use super::patterns::{Patterns, normal};
use crate::run::context::HostExtension;
use files::open;

/// The maximum size of pi's settings, in bytes. Larger settings are ignored.
const MAX_SETTINGS: u64 = 1024 * 1024;
/// The prefixes of package names that are not paths.
const REMOTE: [&str; 6] = ["npm:", "git:", "github:", "http:", "https:", "ssh:"];

/// Returns the extensions of this agent directory. Blocks.
pub(super) fn installed(agent_dir: &Path, home: Option<&Path>) -> Vec<HostExtension> {
    let settings = settings(agent_dir);
    let entries = strings(settings.get("extensions")).unwrap_or_default();
    let (patterns, paths): (Vec<String>, Vec<String>) = entries
        .into_iter()
        .partition(|entry| entry.starts_with(['!', '+', '-']) || entry.contains(['*', '?']));
    let patterns = Patterns::of(&patterns);
    let resolve = |path: &String| resolve_path(path, agent_dir, home);
    let named = patterns.chosen(of_paths(paths.iter().map(resolve).collect()), agent_dir);
    // For extensions that pi finds by itself, a list can only exclude.
    let found = of_directory(&agent_dir.join("extensions"));
    let mut extensions: Vec<HostExtension> = Vec::new();
    let mut add = |path: PathBuf, package: Option<&Path>| {
        let package = package.map(Path::to_path_buf);
        extensions.push(HostExtension { path, package });
    };
    for path in named {
        add(path, None);
    }
    for path in found.into_iter().filter(|path| patterns.stays_enabled(path, agent_dir)) {
        add(path, None);
    }
    for package in settings.get("packages").and_then(Value::as_array).into_iter().flatten() {
        let source = package.as_str().or_else(|| package.get("source")?.as_str());
        let Some(root) = source.and_then(|source| root_of(source, agent_dir, home)) else { continue };
        if root.is_file() {
            add(root, None);
            continue;
        }
        for path in chosen_of(package, &root) {
            add(path, Some(&root));
        }
    }
    let mut seen = BTreeSet::new();
    extensions.retain(|one| seen.insert(one.path.canonicalize().unwrap_or_else(|_| one.path.clone())));
    extensions
}

fn settings(agent_dir: &Path) -> Value {
    let read = || {
        let text = open::read(open::regular(&agent_dir.join("settings.json")).ok()?, MAX_SETTINGS).ok()?;
        serde_json::from_slice(text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text)).ok()
    };
    read().unwrap_or_default()
}

/// Returns the extensions of a package that the user has not disabled.
fn chosen_of(package: &Value, root: &Path) -> Vec<PathBuf> {
    let all = of_package(root);
    let wanted = strings(package.get("extensions"));
    let is_off = package.get("autoload") == Some(&Value::Bool(false));
    match wanted {
        Some(list) if list.is_empty() => Vec::new(),
        // Without autoload, only the named extensions are loaded.
        Some(list) if is_off => {
            let named: Vec<String> =
                list.into_iter().filter(|entry| !entry.starts_with(['!', '-'])).collect();
            let plain: Vec<String> =
                named.iter().map(|entry| entry.trim_start_matches('+').to_owned()).collect();
            if plain.is_empty() { Vec::new() } else { Patterns::of(&plain).chosen(all, root) }
        }
        Some(list) => Patterns::of(&list).chosen(all, root),
        None if is_off => Vec::new(),
        None if all.is_empty() && !is_package(root) && root.is_dir() => vec![root.to_path_buf()],
        None => all,
    }
}

/// Returns the directory in which pi keeps a package.
fn root_of(source: &str, agent_dir: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let source = source.trim();
    if let Some(spec) = source.strip_prefix("npm:") {
        let version = spec.trim().char_indices().skip(1).find(|(_, char)| *char == '@').map(|(at, _)| at);
        let name = &spec.trim()[..version.unwrap_or(spec.trim().len())];
        return below(&agent_dir.join("npm/node_modules"), name);
    }
    if !REMOTE.iter().any(|prefix| source.starts_with(prefix)) {
        return Some(resolve_path(source, agent_dir, home));
    }
    let address = source.strip_prefix("git:").unwrap_or(source).trim();
    let address = match address.strip_prefix("github:") {
        Some(path) => format!("github.com/{path}"),
        None => address.split_once("://").map_or(address, |(_, rest)| rest).to_owned(),
    };
    let address = match address.strip_prefix("git@") {
        Some(rest) => rest.replacen(':', "/", 1),
        None => address,
    };
    let (host, path) = address.split_once('/')?;
    let host = host.rsplit('@').next()?.split(':').next()?;
    let path = path.split(['@', '#']).next()?;
    let path = path.strip_suffix(".git").unwrap_or(path).trim_matches('/');
    below(&agent_dir.join("git").join(host), path)
}

fn below(root: &Path, name: &str) -> Option<PathBuf> {
    let path = normal(&root.join(name));
    (path != *root && path.starts_with(root)).then_some(path)
}

/// Resolves a path from the settings.
fn resolve_path(path: &str, agent_dir: &Path, home: Option<&Path>) -> PathBuf {
    let path = path.trim();
    let path = path.strip_prefix("file://").unwrap_or(path);
    let expanded = match (path.strip_prefix('~'), home) {
        (Some(""), Some(home)) => home.to_path_buf(),
        (Some(rest), Some(home)) if rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
        _ => agent_dir.join(path),
    };
    normal(&expanded)
}
