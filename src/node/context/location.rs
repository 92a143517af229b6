//! The paths of the addon and its warden.
#![expect(clippy::unnecessary_wraps, reason = "napi calls a function that may fail when it loads a module")]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use napi::bindgen_prelude::{Env, Object};
use napi_derive::napi;

/// Names another warden. Empty: no warden, and children are ended by their process group alone.
const OVERRIDE: &str = "PI_SUBAGENT_WARDEN";

/// The addon's own file.
static ADDON: OnceLock<PathBuf> = OnceLock::new();

/// Remembers where the addon was loaded from, which only Node knows; if Node does not say, the location stays unknown.
#[napi(module_exports, catch_unwind)]
pub fn remember_location(_exports: Object, env: Env) -> napi::Result<()> {
    if let Some(file) = env.get_module_file_name().ok().as_deref().and_then(file_path) {
        ADDON.get_or_init(|| file);
    }
    Ok(())
}

/// The path that a `file:` URL names, with Node's escapes decoded.
fn file_path(url: &str) -> Option<PathBuf> {
    let mut pieces = url.strip_prefix("file://")?.split('%');
    let mut path = pieces.next()?.as_bytes().to_vec();
    for piece in pieces {
        let (digits, plain) = piece.split_at_checked(2)?;
        path.push(u8::from_str_radix(digits, 16).ok()?);
        path.extend_from_slice(plain.as_bytes());
    }
    let path = String::from_utf8(path).ok()?;
    // `file:///C:/x` is `C:/x`.
    let drive = path.strip_prefix('/').filter(|rest| rest.as_bytes().get(1) == Some(&b':'));
    Some(drive.unwrap_or(&path).into())
}

/// The addon's own file, if it is known.
pub(crate) fn addon() -> Option<&'static Path> {
    ADDON.get().map(PathBuf::as_path)
}

/// Returns the warden next to the addon, even if it does not work, unless the environment names another.
pub(super) fn warden(env: &[(OsString, OsString)]) -> Option<PathBuf> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    match env.iter().find(|(name, _)| name == OVERRIDE).map(|(_, value)| PathBuf::from(value)) {
        Some(path) => path.is_absolute().then_some(path),
        None => Some(addon()?.parent().unwrap_or(Path::new("/")).join("pi-subagent-warden")),
    }
}
