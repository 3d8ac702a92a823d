//! The texts that a value or a template can make, as sequences of character runs; and the sets of characters in them.

/// A part of a text: one character of a set, or any number of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CharRun {
    pub(super) letters: CharSet,
    pub(super) repeated: bool,
}

/// The parts of a text in their order, such as four digits, a hyphen and two digits.
pub(super) type TextForm = Vec<CharRun>;

pub(super) fn one(letters: CharSet) -> CharRun {
    CharRun {
        letters,
        repeated: false,
    }
}

pub(super) fn many(letters: CharSet) -> CharRun {
    CharRun {
        letters,
        repeated: true,
    }
}

/// At least one letter.
pub(super) fn some(letters: CharSet) -> TextForm {
    vec![one(letters), many(letters)]
}

/// Exactly `count` characters of a set.
pub(super) fn exactly(letters: CharSet, count: usize) -> TextForm {
    vec![one(letters); count]
}

pub(super) fn literal(text: &str) -> TextForm {
    text.chars().map(|c| one(CharSet::one(c))).collect()
}

/// Texts of the form of a sample, in which `0` stands for any digit and `f` for any hexadecimal digit.
pub(super) fn like(sample: &str) -> TextForm {
    let letters = sample.chars().map(|c| match c {
        '0' => CharSet::digits(),
        'f' => CharSet::hex(),
        other => CharSet::one(other),
    });
    letters.map(one).collect()
}

/// How many characters a text of this form has, if that is always the same.
pub(super) fn width(form: &[CharRun]) -> Option<usize> {
    let fixed = form.iter().all(|stretch| !stretch.repeated);
    fixed.then_some(form.len())
}

/// Whether there is one text of this form.
pub(super) fn is_literal(form: &[CharRun]) -> bool {
    let mut runs = form.iter();
    runs.all(|run| !run.repeated && run.letters.only().is_some())
}

/// Every character that texts of these forms can have.
pub(super) fn letters(forms: &[TextForm]) -> CharSet {
    let all = forms.iter().flatten().map(|stretch| stretch.letters);
    all.fold(CharSet::of(""), CharSet::or)
}

/// A set of characters (Unicode scalar values). It may hold more than a text can have, never less: what is proved for it
/// holds for every text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct CharSet {
    /// A bit for each ASCII character.
    ascii: u128,
    beyond: NonAscii,
}

/// The characters of a set that are not ASCII.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum NonAscii {
    None,
    One(char),
    All,
}

/// Characters for examples, the plainest first.
const PLAIN: &str = "xyzwvutsrq";
const FIGURES: &str = "123456789";

impl CharSet {
    /// Every character there is.
    pub(super) const ANY: Self = Self {
        ascii: u128::MAX,
        beyond: NonAscii::All,
    };
    /// Every character that is not ASCII.
    pub(super) const BEYOND_ASCII: Self = Self {
        ascii: 0,
        beyond: NonAscii::All,
    };
    const NONE: Self = Self {
        ascii: 0,
        beyond: NonAscii::None,
    };

    pub(super) fn one(letter: char) -> Self {
        match u8::try_from(letter) {
            Ok(byte) if byte.is_ascii() => Self {
                ascii: 1 << byte,
                beyond: NonAscii::None,
            },
            _ => Self {
                ascii: 0,
                beyond: NonAscii::One(letter),
            },
        }
    }

    pub(super) fn of(letters: &str) -> Self {
        let all = letters.chars().map(Self::one);
        all.fold(Self::NONE, Self::or)
    }

    pub(super) fn digits() -> Self {
        Self::of("0123456789")
    }

    /// What whole numbers, decimals, dates and times are written with.
    pub(super) fn figures() -> Self {
        Self::of("0123456789+-.:TZ")
    }

    pub(super) fn hex() -> Self {
        Self::of("0123456789abcdef")
    }

    /// All but these ASCII characters. Characters that are not ASCII stay.
    pub(super) fn without(self, letters: impl IntoIterator<Item = char>) -> Self {
        let ascii = letters.into_iter().filter(char::is_ascii).map(Self::one);
        let removed = ascii.fold(Self::NONE, Self::or);
        Self {
            ascii: self.ascii & !removed.ascii,
            ..self
        }
    }

    pub(super) fn or(self, other: Self) -> Self {
        let beyond = match (self.beyond, other.beyond) {
            (NonAscii::None, beyond) | (beyond, NonAscii::None) => beyond,
            (NonAscii::One(a), NonAscii::One(b)) if a == b => self.beyond,
            _ => NonAscii::All,
        };
        Self {
            ascii: self.ascii | other.ascii,
            beyond,
        }
    }

    pub(super) fn and(self, other: Self) -> Self {
        let beyond = match (self.beyond, other.beyond) {
            (NonAscii::All, beyond) | (beyond, NonAscii::All) => beyond,
            (NonAscii::One(a), NonAscii::One(b)) if a == b => self.beyond,
            _ => NonAscii::None,
        };
        Self {
            ascii: self.ascii & other.ascii,
            beyond,
        }
    }

    /// The ASCII letters and digits of the set; all of it where it has none.
    pub(super) fn plain(self) -> Self {
        let alphanumeric = ('0'..='z').filter(char::is_ascii_alphanumeric);
        let all = alphanumeric.map(Self::one).fold(Self::NONE, Self::or);
        let plain = all.and(self);
        if plain.is_empty() { self } else { plain }
    }

    /// The characters whose UTF-8 bytes sort up to those of `last`; all of them where `last` is not ASCII.
    pub(super) fn up_to(last: char) -> Self {
        if last.is_ascii() {
            let all = ('\0'..=last).map(Self::one);
            all.fold(Self::NONE, Self::or)
        } else {
            Self::ANY
        }
    }

    /// The ASCII letters of the set.
    pub(super) fn ascii(self) -> impl Iterator<Item = char> {
        let all = (0..128_u8).map(char::from);
        all.filter(move |letter| self.allows(*letter))
    }

    pub(super) fn is_ascii(self) -> bool {
        self.beyond == NonAscii::None
    }

    pub(super) fn is_empty(self) -> bool {
        self == Self::NONE
    }

    pub(super) fn allows(self, letter: char) -> bool {
        !self.and(Self::one(letter)).is_empty()
    }

    /// The character, if there is only one.
    pub(super) fn only(self) -> Option<char> {
        match (self.ascii.count_ones(), self.beyond) {
            (1, NonAscii::None) => u8::try_from(self.ascii.trailing_zeros())
                .ok()
                .map(char::from),
            (0, NonAscii::One(letter)) => Some(letter),
            _ => None,
        }
    }

    /// A character of the set for an example; a different `turn` gives a different one where the set allows it.
    pub(super) fn sample(self, turn: usize) -> Option<char> {
        let pick = |letters: &str| {
            let allowed: Vec<char> = letters.chars().filter(|c| self.allows(*c)).collect();
            let count = allowed.len().max(1);
            allowed.get(turn % count).copied()
        };
        let printable = || (' '..='~').find(|letter| self.allows(*letter));
        let last = || match self.beyond {
            NonAscii::None => self.ascii().next(),
            NonAscii::One(letter) => Some(letter),
            NonAscii::All => Some('é'),
        };
        self.only()
            .or_else(|| pick(PLAIN))
            .or_else(|| pick(FIGURES))
            .or_else(printable)
            .or_else(last)
    }
}
