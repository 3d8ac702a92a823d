//! Markdown pages, as far as the tests read them: fenced blocks and headings.

use super::{files, root};

/// A page of the documentation.
pub(crate) struct Page {
    /// Its path in the repository.
    pub(crate) path: String,
    pub(crate) text: String,
}

#[derive(Clone)]
pub(crate) struct Block {
    pub(crate) language: String,
    pub(crate) text: String,
    /// The heading that it stands under.
    pub(crate) section: String,
    /// Page and line, for messages.
    pub(crate) place: String,
}

pub(super) fn pages() -> Vec<Page> {
    let top = [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
    ];
    let in_docs = files("docs", "md").into_iter().map(|path| {
        let relative = path.strip_prefix(root()).unwrap();
        relative.to_str().unwrap().replace('\\', "/")
    });
    let paths = top.into_iter().map(str::to_owned).chain(in_docs);
    paths.map(|path| page(&path)).collect()
}

pub(crate) fn page(path: &str) -> Page {
    let text = std::fs::read_to_string(root().join(path));
    Page {
        path: path.to_owned(),
        text: text.unwrap_or_else(|error| panic!("{path}: {error}")),
    }
}

/// The fenced blocks of a page.
pub(crate) fn blocks(page: &Page) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut section = String::new();
    let mut open = false;
    for (number, line) in page.text.lines().enumerate() {
        match (line.strip_prefix("```"), open) {
            (Some(language), false) => {
                blocks.push(Block {
                    language: language.trim().to_owned(),
                    text: String::new(),
                    section: section.clone(),
                    place: format!("{}:{}", page.path, number + 1),
                });
                open = true;
            }
            (Some(_), true) => open = false,
            (None, true) => {
                let block = blocks.last_mut().unwrap();
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, false) => {
                if let Some((_, title)) = heading(line) {
                    title.clone_into(&mut section);
                }
            }
        }
    }
    assert!(!open, "{}: a block is not closed", page.path);
    blocks
}

/// What stands outside of fenced blocks, line by line.
pub(super) fn prose(page: &Page) -> Vec<&str> {
    let mut open = false;
    page.text
        .lines()
        .filter(|line| {
            if line.starts_with("```") {
                open = !open;
                return false;
            }
            !open
        })
        .collect()
}

/// The headings of one level, in order.
pub(crate) fn headings(page: &Page, level: usize) -> Vec<&str> {
    let all = prose(page).into_iter().filter_map(heading);
    all.filter(|(depth, _)| *depth == level)
        .map(|(_, title)| title)
        .collect()
}

/// Level and title of a heading.
pub(super) fn heading(line: &str) -> Option<(usize, &str)> {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    (level > 0).then_some(())?;
    Some((level, title.strip_prefix(' ')?.trim()))
}
