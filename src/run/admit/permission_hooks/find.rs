//! Finds the permission hooks among the extensions that pi loads.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::installed::installed;
use super::watches::{EVENT, PROVIDER, contains_any, deadline};
use crate::run::context::{HostContext, HostExtension};
use files::canonical;
use files::open;

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
