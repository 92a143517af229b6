//! git's own environment variables.
//!
//! A git command sets them for the programs that it starts: hooks, `git rebase --exec`, aliases. They win over the
//! working directory, so a child with these variables would work on another repository than the one around its
//! directory.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::root::{RepositoryDirs, root_of};
use sanitizer::quoted_path;

/// The variables that belong to one repository. All but two are the output of `git rev-parse --local-env-vars` in git
/// 2.47. Older versions also print `GIT_INTERNAL_SUPER_PREFIX`. `git receive-pack` sets `GIT_QUARANTINE_PATH`, which
/// forbids changes of references. A test compares them with the installed git.
pub const GIT_VARIABLES: [&str; 17] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT",
    "GIT_OBJECT_DIRECTORY",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_GRAFT_FILE",
    "GIT_INDEX_FILE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_REPLACE_REF_BASE",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_COMMON_DIR",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_QUARANTINE_PATH",
];
/// The variables that contain settings instead of a path. `env` of the configuration may set them.
const SETTINGS: [&str; 3] = ["GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_NO_REPLACE_OBJECTS"];
/// The variables without an effect in a child that starts in another directory, or that gets none of the others.
const WITHOUT_EFFECT: [&str; 3] = ["GIT_PREFIX", "GIT_IMPLICIT_WORK_TREE", "GIT_INTERNAL_SUPER_PREFIX"];

/// Returns an environment without git's own variables.
#[must_use]
pub fn without_git_variables(env: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
    env.iter().filter(|(name, _)| !GIT_VARIABLES.iter().any(|known| name == known)).cloned().collect()
}

/// Returns true if a variable leads git to a repository or to a part of one.
#[must_use]
pub fn leads_git(name: &str) -> bool {
    GIT_VARIABLES.contains(&name) && !SETTINGS.contains(&name)
}

/// Returns a notice if git would act differently in `cwd` with the git variables of this process, which children do not
/// get. `start` is the directory that their relative paths count from. Blocks.
#[must_use]
pub fn withheld_git_variables(env: &[(OsString, OsString)], start: &Path, cwd: &Path) -> Option<String> {
    let found: Vec<(&str, &OsStr)> = GIT_VARIABLES
        .iter()
        .filter(|name| !WITHOUT_EFFECT.contains(name))
        .filter_map(|name| Some((*name, &*env.iter().find(|(known, _)| known == name)?.1)))
        .filter(|(_, value)| !value.is_empty())
        .collect();
    if found.is_empty() {
        return None;
    }
    let root = root_of(&cwd.canonicalize().ok()?);
    let dirs = RepositoryDirs::of(&root);
    let usual = |name: &str| {
        let dirs = dirs.as_ref()?;
        Some(match name {
            "GIT_DIR" => dirs.own.clone(),
            "GIT_COMMON_DIR" => dirs.shared.clone(),
            "GIT_WORK_TREE" => root.clone(),
            "GIT_OBJECT_DIRECTORY" => dirs.objects.clone(),
            "GIT_INDEX_FILE" => dirs.own.join("index"),
            _ => return None,
        })
    };
    let real = |value: &OsStr| start.join(value).canonicalize().ok();
    let others: Vec<_> = found
        .iter()
        .filter(|(name, value)| usual(name).is_none_or(|usual| real(value) != Some(usual)))
        .collect();
    if others.is_empty() {
        return None;
    }
    let place =
        ["GIT_WORK_TREE", "GIT_DIR"].iter().find_map(|name| others.iter().find(|(other, _)| other == name));
    let place = place.map(|(_, value)| {
        format!(", which lead git to {}", quoted_path(&start.join(value).to_string_lossy()))
    });
    let names: Vec<String> = others.iter().map(|(name, _)| format!("`{name}`")).collect();
    let root = quoted_path(&root.to_string_lossy());
    let works = if dirs.is_some() {
        format!("work in the repository of {root}")
    } else {
        format!("work in {root}, where there is no repository")
    };
    Some(format!(
        "pi was started with {}{}: sub-agents do not get them and {works}",
        names.join(", "),
        place.unwrap_or_default()
    ))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn variables_that_lead_to_the_repository_of_the_directory_need_no_notice() {
        let scene = tempfile::tempdir().expect("a temporary directory is created");
        let at = scene.path().canonicalize().expect("the path exists");
        for root in ["here", "other"] {
            for directory in ["objects", "refs"] {
                fs::create_dir_all(at.join(root).join(".git").join(directory))
                    .expect("the directory is created");
            }
            for file in ["HEAD", "index"] {
                fs::write(at.join(root).join(".git").join(file), "").expect("the file is written");
            }
        }
        fs::create_dir_all(at.join("here/deep")).expect("the directory is created");
        fs::create_dir_all(at.join("bare")).expect("the directory is created");
        let notice = |variables: &[(&str, &str)], cwd: &str| {
            let env: Vec<_> = variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
            withheld_git_variables(&env, &at.join("here"), &at.join(cwd))
        };
        for same in [
            &[][..],
            &[("PATH", "/bin"), ("GIT_EDITOR", "vi")],
            &[("GIT_DIR", ".git"), ("GIT_INDEX_FILE", ".git/index"), ("GIT_PREFIX", "deep/")],
            &[("GIT_DIR", ""), ("GIT_WORK_TREE", "."), ("GIT_OBJECT_DIRECTORY", ".git/objects")],
        ] {
            assert_eq!(notice(same, "here/deep"), None, "{same:?}");
        }
        let here = at.join("here").display().to_string();
        let other = at.join("other").display().to_string();
        assert_eq!(
            notice(&[("GIT_DIR", "../other/.git"), ("GIT_WORK_TREE", &other)], "here/deep"),
            Some(format!(
                "pi was started with `GIT_DIR`, `GIT_WORK_TREE`, which lead git to `{other}`: sub-agents do not get them and \
                 work in the repository of `{here}`"
            ))
        );
        assert_eq!(
            notice(&[("GIT_INDEX_FILE", ".git/next-index-7.lock"), ("GIT_DIR", ".git")], "here"),
            Some(format!(
                "pi was started with `GIT_INDEX_FILE`: sub-agents do not get them and work in the repository of `{here}`"
            ))
        );
        let text = notice(&[("GIT_DIR", ".git")], "bare").expect("the variable has a notice");
        assert!(text.ends_with("where there is no repository"), "{text}");
    }

    #[test]
    fn git_settings_may_be_configured_and_git_paths_may_not() {
        assert!(leads_git("GIT_DIR") && leads_git("GIT_INDEX_FILE"));
        assert!(!leads_git("GIT_CONFIG_COUNT") && !leads_git("GIT_EDITOR"));
        let env = ["GIT_DIR", "GIT_CONFIG_COUNT", "GIT_EDITOR", "PATH"].map(|name| (name.into(), "x".into()));
        let remaining: Vec<_> = without_git_variables(&env).into_iter().map(|(name, _)| name).collect();
        assert_eq!(remaining, ["GIT_EDITOR", "PATH"]);
    }
}
