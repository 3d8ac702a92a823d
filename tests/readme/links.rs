//! Links within the documentation lead somewhere.

use std::path::Path;

use super::blocks::{Page, heading, page, pages, prose};
use super::root;

#[test]
fn every_relative_link_leads_somewhere() {
    let mut broken = Vec::new();
    for page in pages() {
        for target in links(&page) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            if let Err(why) = follow(&page, &target) {
                broken.push(format!("{}: ({target}) {why}", page.path));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

fn follow(from: &Page, target: &str) -> Result<(), String> {
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let folder = Path::new(&from.path).parent().unwrap();
    let file = if path.is_empty() {
        root().join(&from.path)
    } else {
        root().join(folder).join(path)
    };
    if !file.exists() {
        return Err("leads to no file".to_owned());
    }
    if anchor.is_empty() {
        return Ok(());
    }
    let file = file.canonicalize().unwrap();
    let relative = file.strip_prefix(root().canonicalize().unwrap()).unwrap();
    let there = page(relative.to_str().unwrap());
    let slugs: Vec<String> = prose(&there)
        .into_iter()
        .filter_map(heading)
        .map(|(_, title)| slug(title))
        .collect();
    if slugs.iter().any(|slug| slug == anchor) {
        Ok(())
    } else {
        Err(format!("leads to no heading; there are {slugs:?}"))
    }
}

/// The targets of `[text](target)`, code spans left aside.
fn links(page: &Page) -> Vec<String> {
    let mut found = Vec::new();
    for line in prose(page) {
        let plain: String = without_code(line);
        for rest in plain.split("](").skip(1) {
            if let Some((target, _)) = rest.split_once(')') {
                found.push(target.to_owned());
            }
        }
    }
    found
}

/// A line without what stands in backquotes. A span ends at as many as it began with.
fn without_code(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find('`') {
        out.push_str(&rest[..at]);
        let fence = rest[at..].chars().take_while(|c| *c == '`').count();
        let after = &rest[at + fence..];
        match after.find(&"`".repeat(fence)) {
            Some(end) => rest = &after[end + fence..],
            None => rest = after,
        }
    }
    out.push_str(rest);
    out
}

/// The anchor that forges make of a heading.
fn slug(title: &str) -> String {
    title
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

#[test]
fn code_is_no_link() {
    assert_eq!(without_code("a `b](c)` d ``e`](f)`` g"), "a  d  g");
    assert_eq!(slug("`$spread` and Others, too"), "spread-and-others-too");
}
