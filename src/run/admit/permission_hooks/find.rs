//! Finds the permission hooks among the extensions that pi loads.
//!
//! If the hosting pi does not report its extensions, they are read from pi's own files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use files::{canonical, open};
use serde::Deserialize;
use serde_json::Value;

use super::package::{Patterns, normal};
use super::package::{is_package, of_directory, of_package, of_paths, strings};
use super::watches::{EVENT, PROVIDER, contains_any, deadline};
use crate::run::context::{HostContext, HostExtension};

/// The marks by which a copy of our own package is recognized that does not host us: its name, the path of its module,
/// and the module's first bytes.
const OWN_NAME: &str = "pi-subagent-native";
const OWN_MODULE: &str = "extensions/pi-subagent-native/index.js";
const OWN_MODULE_START: &[u8] = b"// pi-subagent-native ";
/// The maximum size of our module, in bytes. It has about a hundred thousand.
const MAX_MODULE: u64 = 4 * 1024 * 1024;
const MAX_MANIFEST: u64 = 1024 * 1024;

/// Returns the user's permission hooks, in the order in which pi loads them. Blocks.
#[must_use]
pub(crate) fn find_permission_hooks(context: &HostContext) -> Vec<String> {
    let installed = match &context.host.extensions {
        Some(loaded) => loaded.clone(),
        None => installed(&context.agent_dir, context.home.as_deref()),
    };
    let end = deadline();
    let mut hooks = Vec::<String>::new();
    for HostExtension { path, package } in installed {
        let packages = package.map_or_else(|| packages_of(&path, context), |package| vec![package]);
        if !is_own_module(&path) && contains_any(EVENT, &path, packages, end) {
            let path = path.to_string_lossy().into_owned();
            if !hooks.contains(&path) {
                hooks.push(path);
            }
        }
    }
    hooks
}

/// Returns true if one of these extensions may provide a model. A name that is not a file, such as a package's, always
/// may. Blocks.
pub(crate) fn may_provide_model(files: &[PathBuf], context: &HostContext) -> bool {
    let end = deadline();
    let may =
        |path: PathBuf| !path.is_file() || contains_any(PROVIDER, &path, packages_of(&path, context), end);
    files.iter().map(|path| canonical(path)).any(may)
}

/// Returns the directories of a file's packages. A linked file belongs to the package at its real path.
fn packages_of(path: &Path, context: &HostContext) -> Vec<PathBuf> {
    let real = path.canonicalize().ok().filter(|real| real != path);
    let paths = [Some(path), real.as_deref()].into_iter().flatten();
    paths.filter_map(|path| package_of(path, context)).collect()
}

/// Returns the directory of an extension's files, unless the extension is a single file among others. That is the
/// nearest directory with a `package.json`, else the extension's own directory below a directory of extensions.
fn package_of(entry: &Path, context: &HostContext) -> Option<PathBuf> {
    let of_agent = context.agent_dir.join("extensions");
    let is_shared = |directory: &Path| {
        let is_of_project =
            directory.ends_with(".pi/extensions") || directory.file_name().is_some_and(|name| name == ".pi");
        let is_home = context.home.as_deref() == Some(directory);
        directory == of_agent || is_of_project || is_home || context.agent_dir.starts_with(directory)
    };
    let mut own = None;
    for directory in entry.ancestors().skip(usize::from(!entry.is_dir())) {
        if directory.join("package.json").is_file() && !context.agent_dir.starts_with(directory) {
            return Some(directory.to_path_buf());
        }
        if is_shared(directory) {
            return own;
        }
        own = Some(directory.to_path_buf());
    }
    // The file is in a directory that does not belong to an extension.
    None
}

#[derive(Deserialize)]
struct Manifest {
    name: String,
}

/// Returns true if a file is the module of this package. Its name alone is not enough.
fn is_own_module(entry: &Path) -> bool {
    let is_module = |entry: &Path| {
        let root = entry.ancestors().nth(3)?;
        if entry.strip_prefix(root).ok()? != Path::new(OWN_MODULE) {
            return None;
        }
        let manifest = open::read(open::regular(&root.join("package.json")).ok()?, MAX_MANIFEST).ok()?;
        let module = open::read(open::regular(entry).ok()?, MAX_MODULE).ok()?;
        let Manifest { name } = serde_json::from_slice(&manifest).ok()?;
        Some(name == OWN_NAME && module.starts_with(OWN_MODULE_START))
    };
    entry.canonicalize().ok().as_deref().and_then(is_module) == Some(true)
}

/// The maximum size of pi's settings, in bytes. Larger settings are ignored.
const MAX_SETTINGS: u64 = 1024 * 1024;
/// The prefixes of package names that are not paths.
const REMOTE: [&str; 6] = ["npm:", "git:", "github:", "http:", "https:", "ssh:"];

/// Returns the extensions of this agent directory. Blocks.
fn installed(agent_dir: &Path, home: Option<&Path>) -> Vec<HostExtension> {
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
