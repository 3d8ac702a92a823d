//! Names for things that are called otherwise: unique, and of the characters that a format takes.

/// Letters of a name: what CloudFormation takes for a logical id, which is less than what
/// Application Auto Scaling takes for a policy.
const LONGEST: usize = 255;

/// Gives names out, each once.
#[derive(Debug, Default)]
pub(super) struct UniqueNames {
    given: Vec<String>,
}

impl UniqueNames {
    /// A name of letters and digits, the words of the text run together: `by-date` is `ByDate`, and
    /// `ByDateNo2` where that was given.
    pub(super) fn camel(&mut self, text: &str) -> String {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric());
        let name = words.map(capitalized).collect();
        self.give(name, "No")
    }

    /// A name of letters, digits and underscores that begins with a letter: `GSI1.a` is `gsi1_a`.
    pub(super) fn snake(&mut self, text: &str) -> String {
        let mut name = text.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        name.make_ascii_lowercase();
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            name.insert_str(0, "i_");
        }
        self.give(name, "_")
    }

    /// Numbers a name that was given already, and cuts one that is too long.
    fn give(&mut self, name: String, joint: &str) -> String {
        let numbers = (2..=self.given.len() + 1).map(|number| format!("{joint}{number}"));
        // One more than were given: at least one of them is free.
        let ends = std::iter::once(String::new()).chain(numbers);
        let cut = |end: String| {
            let room = LONGEST.saturating_sub(end.len());
            name.chars().take(room).collect::<String>() + &end
        };
        let mut names = ends.map(cut);
        let free = names.find(|name| !self.given.contains(name));
        let free = free.unwrap_or(name);
        self.given.push(free.clone());
        free
    }
}

fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_only_in_their_punctuation_stay_apart() {
        let mut names = UniqueNames::default();
        let made: Vec<String> = ["GSI1.a", "GSI1-a", "GSI1_a", "by-date", "1st", "...", "---"]
            .into_iter()
            .map(|text| names.camel(&format!("Index-{text}")))
            .collect();
        assert_eq!(
            made,
            [
                "IndexGSI1A",
                "IndexGSI1ANo2",
                "IndexGSI1ANo3",
                "IndexByDate",
                "Index1st",
                "Index",
                "IndexNo2"
            ]
        );
        let mut names = UniqueNames::default();
        let made: Vec<String> = ["GSI1.a", "gsi1-a", "gsi1_a_2", "1st", "..."]
            .into_iter()
            .map(|text| names.snake(text))
            .collect();
        assert_eq!(made, ["gsi1_a", "gsi1_a_2", "gsi1_a_2_2", "i_1st", "i____"]);
    }

    #[test]
    fn long_names_are_cut_and_stay_apart() {
        let long = "a".repeat(300);
        let mut names = UniqueNames::default();
        let made: Vec<String> = ["-read", "-write", "-read"]
            .into_iter()
            .map(|end| names.camel(&format!("Index-{long}{end}")))
            .collect();
        assert!(made.iter().all(|name| name.len() == 255), "{made:?}");
        assert!(made[1].ends_with("aNo2") && made[2].ends_with("aNo3"));
        assert_eq!(UniqueNames::default().snake(&long).len(), 255);
    }
}
