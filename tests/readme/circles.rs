//! Files look one way: no two beside each other name one another, be it through others. A parent and its children may.

use std::collections::{BTreeMap, BTreeSet};

use super::{files, root};

/// Circles that stay.
const KNOWN: [&str; 3] = [
    // An item type holds the texts that its keys can be, which the proof makes of its templates.
    "mapping: model, proof",
    // The embedded engine answers the client that it stands behind, which asks it for its limits.
    "target: dynamodb, local",
    // The arguments of `migrate` name a route, and a route works with these arguments.
    "the root/cli/migrate: job, route",
];

/// The way to a module, from its crate's root.
type Way = Vec<String>;

/// What a crate's modules say: their code, and the names that each brings in with where these are from.
#[derive(Default)]
struct Modules {
    code: BTreeMap<Way, String>,
    imports: BTreeMap<Way, Vec<(String, Way)>>,
}

#[test]
fn no_files_beside_each_other_go_in_a_circle() {
    let mut found = BTreeSet::new();
    for (name, modules) in crates() {
        let mut beside: BTreeMap<Way, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
        for (from, to) in modules.edges() {
            let same = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
            if let (Some(one), Some(other)) = (from.get(same), to.get(same)) {
                let folder = beside.entry(from[..same].to_vec()).or_default();
                folder.entry(one.clone()).or_default().insert(other.clone());
            }
        }
        for (folder, edges) in beside {
            let folder: Vec<String> = std::iter::once(name.clone()).chain(folder).collect();
            for one in edges.keys() {
                let all = reached(&edges, one);
                let back = |other: &&String| reached(&edges, other).contains(one);
                let circle: Vec<&str> = all.iter().filter(back).map(String::as_str).collect();
                if !circle.is_empty() {
                    found.insert(format!("{}: {}", folder.join("/"), circle.join(", ")));
                }
            }
        }
    }
    let known = KNOWN.map(str::to_owned);
    assert_eq!(found, BTreeSet::from(known));
}

/// What a file comes to from file to file.
fn reached(edges: &BTreeMap<String, BTreeSet<String>>, from: &str) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut next = vec![from.to_owned()];
    while let Some(from) = next.pop() {
        for to in edges.get(&from).into_iter().flatten() {
            if reached.insert(to.clone()) {
                next.push(to.clone());
            }
        }
    }
    reached
}

/// Each crate by its folder's name.
fn crates() -> BTreeMap<String, Modules> {
    let mut crates: BTreeMap<String, Modules> = BTreeMap::new();
    for file in [files("crates", "rs"), files("src", "rs")].concat() {
        let path = file.strip_prefix(root()).unwrap().with_extension("");
        let parts = path.iter().map(|part| part.to_str().unwrap().to_owned());
        let mut way: Way = parts.collect();
        let name = way.remove(0);
        let name = match name.as_str() {
            "crates" => way.remove(0),
            _ => "the root".to_owned(),
        };
        if name != "the root" && way.remove(0) != "src" {
            continue;
        }
        way.pop_if(|last| last == "lib" || last == "mod");
        if !way.iter().any(|part| part == "tests" || part == "main") {
            let code = without_tests(&std::fs::read_to_string(&file).unwrap());
            crates.entry(name).or_default().code.insert(way, code);
        }
    }
    for modules in crates.values_mut() {
        let imports = modules.code.iter().map(|(way, code)| {
            let named = uses(code).into_iter();
            let named = named.filter_map(|(name, path)| Some((name, modules.whole(way, &path)?)));
            (way.clone(), named.collect())
        });
        modules.imports = imports.collect();
    }
    crates
}

/// Code without comments, and without what is there for tests alone.
fn without_tests(text: &str) -> String {
    let mut code = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let indent = &line[..line.len() - line.trim_start().len()];
        if line.trim() == "#[cfg(test)]" {
            let item = lines.find(|line| !line.trim_start().starts_with('#'));
            if !item.unwrap_or(";").ends_with([';', '}']) {
                lines.find(|line| *line == format!("{indent}}}"));
            }
        } else if !line.trim_start().starts_with("//") {
            code.extend([line, "\n"]);
        }
    }
    code
}

/// The names that `use` brings in, each with its path.
fn uses(code: &str) -> Vec<(String, Way)> {
    let mut found = Vec::new();
    for statement in code.split(';') {
        let lines: Vec<&str> = statement.lines().map(str::trim).collect();
        let begin = lines.iter().rposition(|line| {
            line.starts_with("use ") || (line.starts_with("pub") && line.contains(" use "))
        });
        if let Some(begin) = begin {
            let text = lines[begin..].concat();
            let (_, tree) = text.split_once("use ").unwrap();
            leaves(&[], tree, &mut found);
        }
    }
    found
}

/// The leaves of a tree such as `a::{b, c::{self, D as E}}`.
fn leaves(before: &[String], tree: &str, found: &mut Vec<(String, Way)>) {
    let (path, inner) = match tree.split_once('{') {
        Some((path, inner)) => (path, inner.strip_suffix('}')),
        None => (tree, None),
    };
    let (path, alias) = path.split_once(" as ").unwrap_or((path, ""));
    let parts = path
        .split("::")
        .map(str::trim)
        .filter(|part| !part.is_empty());
    let mut way: Way = before
        .iter()
        .cloned()
        .chain(parts.map(str::to_owned))
        .collect();
    let Some(inner) = inner else {
        way.pop_if(|last| last == "self");
        let name = way
            .last()
            .map_or(alias, |last| if alias.is_empty() { last } else { alias });
        found.push((name.to_owned(), way));
        return;
    };
    let mut depth = 0;
    let branches = inner.split(|sign| {
        depth += i32::from(sign == '{') - i32::from(sign == '}');
        sign == ',' && depth == 0
    });
    for branch in branches.filter(|branch| !branch.trim().is_empty()) {
        leaves(&way, branch.trim(), found);
    }
}

impl Modules {
    /// Each module with each that it names.
    fn edges(&self) -> BTreeSet<(Way, Way)> {
        let mut edges = BTreeSet::new();
        for (way, code) in &self.code {
            let imported = self.imports[way].iter().map(|(_, path)| path.clone());
            let words = code.split(|sign: char| !(sign.is_alphanumeric() || "_:".contains(sign)));
            let paths = words.filter(|word| word.contains("::")).filter_map(|word| {
                let path: Way = word
                    .trim_end_matches(':')
                    .split("::")
                    .map(str::to_owned)
                    .collect();
                let is_own = ["crate", "super", "self"].contains(&path[0].as_str());
                is_own.then(|| self.whole(way, &path))?
            });
            for path in imported.chain(paths) {
                edges.insert((way.clone(), self.module(&path, 0)));
            }
        }
        edges
    }

    /// A path from the crate's root; `None` where it leads elsewhere.
    fn whole(&self, way: &[String], path: &[String]) -> Option<Way> {
        let (first, rest) = path.split_first()?;
        let base = match first.as_str() {
            "crate" => return Some(rest.to_vec()),
            "super" => {
                return self.whole(way.split_last()?.1, &[&["self".to_owned()], rest].concat());
            }
            "self" if rest.first().is_some_and(|next| next == "super") => {
                return self.whole(way, rest);
            }
            "self" => return Some([way, rest].concat()),
            _ => [way, path].concat(),
        };
        self.code.contains_key(&base[..=way.len()]).then_some(base)
    }

    /// The module in which that stands which a path leads to, also through what others pass on.
    fn module(&self, path: &[String], passed: usize) -> Way {
        let mut at = 0;
        while at < path.len() && self.code.contains_key(&path[..=at]) {
            at += 1;
        }
        let (way, rest) = path.split_at(at);
        let imports = self.imports.get(way).into_iter().flatten();
        let mut imports = imports.filter(|(name, _)| rest.first() == Some(name));
        match imports.next() {
            Some((_, from)) if passed < 8 => {
                self.module(&[from.as_slice(), &rest[1..]].concat(), passed + 1)
            }
            _ => way.to_vec(),
        }
    }
}
