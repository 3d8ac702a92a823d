//! What the filters on text make of what is known of a value.

use super::domain::Domain;
use super::letters::Letters;
use super::text::{Stretch, letters, literal, many};

impl Domain {
    pub(super) fn in_case(self, filter: &'static str, change: impl Fn(&char) -> char) -> Self {
        // A form with one case of each letter alone, as UUIDs and hexadecimal digits have it, only
        // changes its letters.
        let both = |letters: Letters| {
            ('a'..='z').any(|c| letters.allows(c) && letters.allows(c.to_ascii_uppercase()))
        };
        let all = letters(&self.forms);
        if all.is_ascii() && self.forms.len() == 1 && !both(all) {
            let form = self.forms.iter().flatten().map(|stretch| Stretch {
                letters: (stretch.letters.ascii().map(|letter| change(&letter)))
                    .fold(Letters::of(""), |all, letter| all.or(Letters::one(letter))),
                repeated: stretch.repeated,
            });
            let forms = vec![form.collect()];
            let (kind, bytes) = (self.kind, self.bytes);
            return self.into_text(forms).of_kind(kind).with_bytes(bytes);
        }
        // No letter grows by more: ΐ has two bytes, and six in upper case.
        let bytes = self.bytes.map(|bytes| {
            if filter == "lower" {
                bytes * 3 / 2
            } else {
                bytes * 3
            }
        });
        self.losing(format!("`{filter}` makes one of texts that differ in case"))
            .into_any_of(Letters::ANY, bytes)
    }

    pub(super) fn trimmed(self) -> Self {
        let spaces = letters(&self.forms);
        if spaces.is_ascii() && !spaces.ascii().any(char::is_whitespace) {
            return self;
        }
        let bytes = self.bytes;
        self.losing("`trim` makes one of texts that differ in white space")
            .into_any_of(spaces, bytes)
    }

    pub(super) fn truncated(self, length: usize) -> Self {
        if self.width().is_some_and(|width| width <= length) {
            return self;
        }
        let bytes = self.bytes.map_or(length * 4, |bytes| bytes.min(length * 4));
        let form = match self.forms.as_slice() {
            [form] if super::text::width(form).is_some() => {
                form.iter().copied().take(length).collect()
            }
            forms => vec![many(letters(forms))],
        };
        let domain = self.losing("`truncate` makes one of texts that begin alike");
        domain.into_text(vec![form]).with_bytes(Some(bytes))
    }

    pub(super) fn replaced(self, from: &str, to: &str) -> Self {
        let mut chars = from.chars();
        let single = chars.next().filter(|_| chars.next().is_none());
        // In a form of fixed letters, such as a UUID's hyphens, nothing is lost.
        if let (Some(letter), [form]) = (single, self.forms.as_slice()) {
            let known = form.iter().all(|stretch| {
                !stretch.repeated
                    && (stretch.letters.only() == Some(letter) || !stretch.letters.allows(letter))
            });
            if known {
                let changed = form.iter().flat_map(|stretch| {
                    if stretch.letters.only() == Some(letter) {
                        literal(to)
                    } else {
                        vec![*stretch]
                    }
                });
                let forms = vec![changed.collect()];
                return self.into_text(forms);
            }
        }
        let mut all = letters(&self.forms).or(Letters::of(to));
        if !to.is_ascii() {
            all = all.or(Letters::BEYOND_ASCII);
        }
        if let Some(letter) = single
            && !to.contains(letter)
        {
            all = all.without([letter]);
        }
        let bytes = self.bytes.filter(|_| to.len() <= from.len());
        self.losing("`replace` may make two texts one")
            .into_any_of(all, bytes)
    }
}
