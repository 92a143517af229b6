//! Where the addon and its warden are.
#![expect(clippy::unnecessary_wraps, reason = "napi calls a function that may fail when it loads a module")]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use napi::bindgen_prelude::{Env, Object};
use napi_derive::napi;

/// Names another warden. Empty: no warden, and children are held by their process group alone.
const OVERRIDE: &str = "PI_SUBAGENT_WARDEN";

/// The addon's own file.
static ADDON: OnceLock<PathBuf> = OnceLock::new();

/// Remembers where the addon was loaded from, which only Node knows; where it does not say, the location stays unknown.
#[napi(module_exports, catch_unwind)]
pub fn remember_location(_exports: Object, env: Env) -> napi::Result<()> {
    if let Some(file) = env.get_module_file_name().ok().as_deref().and_then(file_path) {
        ADDON.get_or_init(|| file);
    }
    Ok(())
}

/// The path that a `file:` URL names, with Node's escapes decoded.
fn file_path(url: &str) -> Option<PathBuf> {
    let escaped = url.strip_prefix("file://")?.as_bytes();
    let mut path = Vec::with_capacity(escaped.len());
    let mut rest = escaped;
    while let Some((&first, after)) = rest.split_first() {
        let (byte, after) = match (first, after) {
            (b'%', [high, low, after @ ..]) => {
                let digits = [*high, *low];
                (u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?, after)
            }
            (byte, after) => (byte, after),
        };
        path.push(byte);
        rest = after;
    }
    let path = String::from_utf8(path).ok()?;
    // `file:///C:/x` is `C:/x`.
    let drive = path.strip_prefix('/').filter(|rest| rest.as_bytes().get(1) == Some(&b':'));
    Some(drive.unwrap_or(&path).into())
}

/// The addon's own file, if it is known.
pub(super) fn addon() -> Option<&'static Path> {
    ADDON.get().map(PathBuf::as_path)
}

/// The warden beside the addon, whether it works or not, unless the environment names another.
pub(super) fn warden(env: &[(OsString, OsString)]) -> Option<PathBuf> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    match env.iter().find(|(name, _)| name == OVERRIDE).map(|(_, value)| PathBuf::from(value)) {
        Some(path) => path.is_absolute().then_some(path),
        None => Some(addon()?.parent().unwrap_or(Path::new("/")).join("pi-subagent-warden")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_become_paths() {
        for (url, path) in [
            ("file:///opt/a%20b/%C3%A9/x.node", Some("/opt/a b/é/x.node")),
            ("file:///C:/x.node", Some("C:/x.node")),
            ("file:///50%25/x", Some("/50%/x")),
            ("file:///bad%zz", None),
            ("/plain", None),
        ] {
            assert_eq!(file_path(url), path.map(PathBuf::from), "{url}");
        }
    }
}
