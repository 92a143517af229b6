//! The rules of `ARCHITECTURE.md` for the sources: the allowed imports, the size of a room, and its documentation.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::support::sources::{MAPS, Uses, pattern, source_folders, sources};

/// The largest number of files in one room.
const MAX_FILES: usize = 16;
/// A room with more files than this has a map.
const WITHOUT_MAP: usize = 7;
/// The endings of files that replace another file on other systems.
const ELSEWHERE: [&str; 3] = ["_elsewhere", "_unsupported", "_windows"];
/// The layers of `src`, the lowest first. Layers on one line do not use each other.
const LAYERS: [&[&str]; 6] = [
    &["archive", "credentials", "log", "transcript"],
    &["run"],
    &["doctor"],
    &["present"],
    &["orchestrate"],
    &["node"],
];
/// The floors of `run`, the lowest first. Rooms of one floor do not use each other, except on the ground.
const FLOORS: [&[&str]; 9] = [
    &["background", "blocking", "budget", "callbacks", "context", "facts", "progress", "spec", "state"],
    &["pi", "protocol"],
    &["launcher"],
    &["sandbox"],
    &["result"],
    &["admit"],
    &["launch", "record"],
    &["outcome"],
    &["drive"],
];
/// Words of the code, and the only folders that may use each word. The manifests of the crates hold the rest.
const ONLY_IN: [(&str, &[&str]); 3] = [
    (r"\bCommand::new\b", &["crates/supervisor/", "crates/warden/"]),
    (r"\bposix_spawn", &["crates/supervisor/", "crates/warden/"]),
    (r"\bnapi(_derive)?\b", &["src/node/"]),
];

#[test]
fn no_two_files_import_each_other() {
    let mut circles = Vec::new();
    for folder in source_folders() {
        let uses = Uses::of(&folder);
        let graph: BTreeMap<_, _> = uses.sources.keys().map(|file| (file, uses.used_by(file))).collect();
        let mut reported = BTreeSet::new();
        for start in graph.keys() {
            // The shortest path from a file to itself.
            let mut ways = VecDeque::from([vec![*start]]);
            let mut seen = BTreeSet::new();
            while let Some(way) = ways.pop_front() {
                for next in &graph[way[way.len() - 1]] {
                    if next == start && !way.iter().any(|file| reported.contains(file)) {
                        reported.extend(way.iter().copied());
                        let circle: Vec<&str> = way.iter().chain([next]).map(|file| file.as_str()).collect();
                        circles.push(circle.join(" imports "));
                    } else if seen.insert(*next) {
                        ways.push_back([way.as_slice(), &[*next]].concat());
                    }
                }
            }
        }
    }
    assert!(circles.is_empty(), "move their shared code into a file below both:\n{}", circles.join("\n"));
}

#[test]
fn a_layer_uses_those_below_it() {
    let uses = Uses::of("src");
    let layer = |file: &str| {
        let name = file.split('/').nth(1).expect("the file is below src").to_owned();
        LAYERS.iter().position(|layer| layer.contains(&name.as_str())).map(|level| (level, name))
    };
    let mut crossed = Vec::new();
    for file in uses.sources.keys() {
        let Some((own, name)) = layer(file) else {
            if file != "src/lib.rs" {
                crossed.push(format!("{file} is in no layer"));
            }
            continue;
        };
        for used in uses.used_by(file) {
            let Some((level, other)) = layer(used) else { continue };
            if level >= own && name != other {
                crossed.push(format!("{file} uses {used}, which is not below it"));
            }
        }
    }
    assert!(crossed.is_empty(), "{}", crossed.join("\n"));
}

#[test]
fn a_floor_of_run_uses_those_below_it() {
    let uses = Uses::of("src");
    let floor = |file: &str| {
        let name = file.strip_prefix("src/run/")?.split('/').next()?.trim_end_matches(".rs").to_owned();
        Some((FLOORS.iter().position(|floor| floor.contains(&name.as_str())), name))
    };
    let mut crossed = Vec::new();
    for file in uses.sources.keys().filter(|file| *file != "src/run/mod.rs") {
        let Some((own, name)) = floor(file) else { continue };
        if own.is_none() {
            crossed.push(format!("{file} is on no floor"));
        }
        for used in uses.used_by(file) {
            let Some((level, other)) = floor(used) else { continue };
            if level >= own && name != other && level != Some(0) {
                crossed.push(format!("{file} uses {used}, which is not below it"));
            }
        }
    }
    assert!(crossed.is_empty(), "{}", crossed.join("\n"));
}

#[test]
fn a_room_has_a_limited_number_of_files_and_its_map_names_each() {
    let mut wrong = Vec::new();
    for folder in source_folders() {
        let sources = sources(&folder);
        let mut rooms: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for file in sources.keys() {
            let (room, name) = file.rsplit_once('/').expect("the file is in a directory");
            rooms.entry(room).or_default().push(name.trim_end_matches(".rs"));
        }
        for (room, names) in rooms {
            if names.len() > MAX_FILES {
                wrong.push(format!(
                    "{room} has {} files next to each other; at most {MAX_FILES} are allowed",
                    names.len()
                ));
            }
            if names.len() <= WITHOUT_MAP {
                continue;
            }
            let (maps, files): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| MAPS.contains(name));
            let docs: String = maps.iter().map(|map| &*sources[&format!("{room}/{map}.rs")].docs).collect();
            for file in files {
                let name = ELSEWHERE.iter().fold(file, |name, ending| name.trim_end_matches(ending));
                // A folder of the same name counts as the file.
                if !["`", "/`", "/"].iter().any(|end| docs.contains(&format!("`{name}{end}"))) {
                    let maps = maps.join(".rs, ");
                    wrong.push(format!("the map of {room} ({maps}.rs) does not say what `{file}` answers"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_the_listed_files_start_programs_and_name_hidden_crates() {
    let mut wrong = Vec::new();
    for (file, source) in source_folders().iter().flat_map(|folder| sources(folder)) {
        for (word, rooms) in ONLY_IN {
            let word = pattern(word);
            let paths = source.names.values().map(|(path, _)| path.join("::"));
            let names_it = word.is_match(&source.code) || paths.into_iter().any(|path| word.is_match(&path));
            if names_it && !rooms.iter().any(|room| file.starts_with(room)) {
                wrong.push(format!("{file} has `{word}`, which belongs into {}", rooms.join(" or ")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
