//! Checks whether the hosting pi gives this package's names to something else.

use std::collections::BTreeSet;

use super::check::{Check, Status};
use crate::run::{HostContext, NameKind, TakenName};
use sanitizer::{quoted, quoted_path, quoted_paths};

/// The maximum number of names reported. This package has fewer.
const MAX_NAMES: usize = 32;

/// Reports the names of this package that are taken, and the packages or files to remove. Names that are freed in the
/// same way are reported together.
pub(super) fn names(context: &HostContext) -> Vec<Check> {
    let mut groups: Vec<Vec<&TakenName>> = Vec::new();
    for taken in context.host.taken_names.iter().take(MAX_NAMES) {
        match groups.iter_mut().find(|group| key(group[0]) == key(taken)) {
            Some(group) => group.push(taken),
            None => groups.push(vec![taken]),
        }
    }
    for group in &mut groups {
        group.sort_by_key(|taken| &taken.name);
    }
    groups.iter().map(|group| check(group)).collect()
}

fn key(taken: &TakenName) -> (NameKind, Option<&String>, bool, bool) {
    (taken.kind, taken.package.as_ref(), taken.is_named, taken.path.is_some())
}

fn check(group: &[&TakenName]) -> Check {
    let verb = if group.len() == 1 { "comes" } else { "come" };
    let list = list(group);
    let paths = paths(group);
    let from = if paths.is_empty() { "the program around this pi" } else { paths.as_str() };
    let (area, message) = match group[0].kind {
        NameKind::Tool if paths.is_empty() => {
            ("tools", format!("{list} {verb} from {from} and not from this package"))
        }
        NameKind::Tool => {
            ("tools", format!("{list} {verb} from another extension, {from}, and not from this package"))
        }
        NameKind::Prompt => ("prompts", format!("{list} {verb} from {from} and not from this package")),
        NameKind::Command => {
            let own_names = group.iter().filter_map(|taken| taken.own_name.as_ref());
            let own_names: Vec<String> = own_names.map(|name| quoted(&format!("/{name}"))).collect();
            (
                "commands",
                format!("{list} {verb} from {from}, too; this package's is {}", own_names.join(", ")),
            )
        }
    };
    Check::new(area, Status::Warning, message).hint(remedy(group[0], &paths))
}

fn list(group: &[&TakenName]) -> String {
    let shown = |taken: &&TakenName| match taken.kind {
        NameKind::Tool => quoted(&taken.name),
        NameKind::Prompt | NameKind::Command => quoted(&format!("/{}", taken.name)),
    };
    group.iter().map(shown).collect::<Vec<_>>().join(", ")
}

fn paths(group: &[&TakenName]) -> String {
    let mut seen = BTreeSet::new();
    let paths = group.iter().filter_map(|taken| taken.path.as_ref()).filter(|path| seen.insert(*path));
    quoted_paths(paths)
}

fn remedy(TakenName { package, is_named, .. }: &TakenName, paths: &str) -> String {
    let what = match (package, is_named) {
        _ if paths.is_empty() => return "only that program can give the name up".to_owned(),
        (Some(package), _) => {
            format!("remove the other package with {}", quoted_path(&format!("pi remove {package}")))
        }
        (None, true) => return format!("start pi without {paths} on its command line to use this package's"),
        (None, false) => format!("remove {paths}"),
    };
    format!("{what} and restart pi to use this package's")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Host;

    fn taken(kind: NameKind, name: &str, path: Option<&str>) -> TakenName {
        let path = path.map(str::to_owned);
        TakenName { kind, name: name.to_owned(), path, package: None, is_named: false, own_name: None }
    }

    #[test]
    fn taken_names_are_reported_with_their_owner_and_the_fix() {
        let tool = |name, path| taken(NameKind::Tool, name, path);
        let taken_names = vec![
            tool("subagent", Some("/ext/a.ts")),
            tool("agents_list", Some("/ext/a.ts")),
            TakenName { package: Some("npm:other".into()), ..tool("sessions_list", Some("/npm/other/b.ts")) },
            TakenName { is_named: true, ..tool("sessions_send", Some("/c.ts")) },
            tool("sessions_stop", None),
            taken(NameKind::Prompt, "implement", Some("/prompts/implement.md")),
            taken(NameKind::Prompt, "scout-and-plan", Some("/prompts/scout-and-plan.md")),
            TakenName {
                own_name: Some("subagents:2".into()),
                ..taken(NameKind::Command, "subagents", Some("/d.ts"))
            },
        ];
        let context = HostContext {
            agent_dir: "/agent".into(),
            home: None,
            env: Vec::new(),
            config: None,
            pi_command: None,
            warden: None,
            host: Host { taken_names, ..Host::default() },
        };
        let line_of =
            |check: Check| format!("{}: {}; {}", check.area, check.message, check.hint.unwrap_or_default());
        let found: Vec<String> = names(&context).into_iter().map(line_of).collect();
        assert_eq!(
            found,
            [
                "tools: `agents_list`, `subagent` come from another extension, `/ext/a.ts`, and not from this package; remove \
                 `/ext/a.ts` and restart pi to use this package's",
                "tools: `sessions_list` comes from another extension, `/npm/other/b.ts`, and not from this package; remove the \
                 other package with `pi remove npm:other` and restart pi to use this package's",
                "tools: `sessions_send` comes from another extension, `/c.ts`, and not from this package; start pi without \
                 `/c.ts` on its command line to use this package's",
                "tools: `sessions_stop` comes from the program around this pi and not from this package; only that program can \
                 give the name up",
                "prompts: `/implement`, `/scout-and-plan` come from `/prompts/implement.md`, `/prompts/scout-and-plan.md` and \
                 not from this package; remove `/prompts/implement.md`, `/prompts/scout-and-plan.md` and restart pi to use this \
                 package's",
                "commands: `/subagents` comes from `/d.ts`, too; this package's is `/subagents:2`; remove `/d.ts` and restart pi \
                 to use this package's",
            ]
        );
    }
}
