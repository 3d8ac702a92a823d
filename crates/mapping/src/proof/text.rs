//! The texts that a value or a template can make, as rows of pieces.

use super::letters::Letters;

/// A stretch of a text: one letter of a set, or any number of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) letters: Letters,
    pub(super) repeated: bool,
}

/// Texts of one form.
pub(super) type Form = Vec<Stretch>;

pub(super) fn one(letters: Letters) -> Stretch {
    Stretch {
        letters,
        repeated: false,
    }
}

pub(super) fn many(letters: Letters) -> Stretch {
    Stretch {
        letters,
        repeated: true,
    }
}

/// At least one letter.
pub(super) fn some(letters: Letters) -> Form {
    vec![one(letters), many(letters)]
}

/// Just so many letters.
pub(super) fn exactly(letters: Letters, count: usize) -> Form {
    vec![one(letters); count]
}

/// This text.
pub(super) fn literal(text: &str) -> Form {
    text.chars().map(|c| one(Letters::one(c))).collect()
}

/// Texts like this one, in which `0` stands for a digit and `f` for a hexadecimal one.
pub(super) fn like(sample: &str) -> Form {
    let letters = sample.chars().map(|c| match c {
        '0' => Letters::digits(),
        'f' => Letters::hex(),
        other => Letters::one(other),
    });
    letters.map(one).collect()
}

/// How many letters a text of this form has, if that is always the same.
pub(super) fn width(form: &[Stretch]) -> Option<usize> {
    let fixed = form.iter().all(|stretch| !stretch.repeated);
    fixed.then_some(form.len())
}

/// Every letter that texts of these forms can have.
pub(super) fn letters(forms: &[Form]) -> Letters {
    let all = forms.iter().flatten().map(|stretch| stretch.letters);
    all.fold(Letters::of(""), Letters::or)
}
