//! What a child might have to fetch before it can do its work.

use std::ffi::OsString;
use std::path::Path;

use super::builtin;
use super::resolve::Extensions;
use crate::process;

/// pi's tools that are other people's programs, and the names of these. pi fetches one that it does not find.
const PROGRAMS: [(&str, &[&str]); 2] = [("grep", &["rg"]), ("find", &["fd", "fdfind"])];
/// Where in its agent directory pi keeps what it has fetched.
const BIN: &str = "bin";

/// Whether a child with these tools, extensions and environment would fetch something that is missing. Blocks.
pub(in crate::run) fn may_be_needed(
    tools: &[String],
    extensions: &Extensions,
    agent_dir: &Path,
    env: &[(OsString, OsString)],
) -> bool {
    let path = process::search_path(env);
    let is_there = |name: &&str| {
        let fetched = agent_dir.join(BIN).join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
        fetched.exists() || process::resolve_program(name.as_ref(), path).is_some()
    };
    let lacks = |(tool, names): &(&str, &[&str])| {
        tools.iter().any(|wanted| wanted == tool) && !names.iter().any(is_there)
    };
    PROGRAMS.iter().any(lacks) || matches!(extensions, Extensions::Only(list) if list.iter().any(is_package))
}

/// Whether an extension is the name of a package, as `npm:tools` or `git:github.com/user/tools` is, and not a file or one
/// of pi's own.
fn is_package(extension: &String) -> bool {
    let is_named = !Path::new(extension).is_absolute() && extension.contains(':');
    is_named && !extension.starts_with(builtin::PREFIX)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_what_is_missing_and_wanted_has_to_be_fetched() {
        let root = tempfile::tempdir().expect("a temporary directory");
        let fetched = root.path().join("full");
        fs::create_dir_all(fetched.join(BIN)).expect("made");
        for name in ["rg", "fd"] {
            let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
            fs::write(fetched.join(BIN).join(file), "").expect("written");
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
            assert_eq!(may_be_needed(&tools, &extensions, agent_dir, &env), expected, "{label}");
        }
    }
}
