//! The texts that a value or a template can make, as rows of pieces; and sets of letters.

/// A stretch of a text: one letter of a set, or any number of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) letters: Letters,
    pub(super) repeated: bool,
}

/// Texts of one form.
pub(super) type TextForm = Vec<Stretch>;

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
pub(super) fn some(letters: Letters) -> TextForm {
    vec![one(letters), many(letters)]
}

/// Just so many letters.
pub(super) fn exactly(letters: Letters, count: usize) -> TextForm {
    vec![one(letters); count]
}

pub(super) fn literal(text: &str) -> TextForm {
    text.chars().map(|c| one(Letters::one(c))).collect()
}

/// Texts like this one, in which `0` stands for a digit and `f` for a hexadecimal one.
pub(super) fn like(sample: &str) -> TextForm {
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
pub(super) fn letters(forms: &[TextForm]) -> Letters {
    let all = forms.iter().flatten().map(|stretch| stretch.letters);
    all.fold(Letters::of(""), Letters::or)
}

// Sets of letters. A set may hold more than it says, never less: what is proved of it holds for every text.

/// A set of letters (Unicode scalar values).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Letters {
    /// A bit for each ASCII letter.
    ascii: u128,
    beyond: NonAscii,
}

/// The letters that are not ASCII.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum NonAscii {
    None,
    One(char),
    All,
}

/// Letters for examples, the plainest first.
const PLAIN: &str = "xyzwvutsrq";
const FIGURES: &str = "123456789";

impl Letters {
    /// Every letter there is.
    pub(super) const ANY: Self = Self {
        ascii: u128::MAX,
        beyond: NonAscii::All,
    };
    /// Every letter that is not ASCII.
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

    /// All but these ASCII letters; of others nothing is left out.
    pub(super) fn without(self, letters: impl IntoIterator<Item = char>) -> Self {
        let out = letters.into_iter().filter(char::is_ascii).map(Self::one);
        let out = out.fold(Self::NONE, Self::or);
        Self {
            ascii: self.ascii & !out.ascii,
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
        let plain = ('0'..='z').filter(char::is_ascii_alphanumeric);
        let plain = plain.map(Self::one).fold(Self::NONE, Self::or).and(self);
        if plain.is_empty() { self } else { plain }
    }

    /// This letter and all whose bytes come before its own.
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

    /// The letter, if there is only one.
    pub(super) fn only(self) -> Option<char> {
        match (self.ascii.count_ones(), self.beyond) {
            (1, NonAscii::None) => u8::try_from(self.ascii.trailing_zeros())
                .ok()
                .map(char::from),
            (0, NonAscii::One(letter)) => Some(letter),
            _ => None,
        }
    }

    /// A letter of the set for an example; `turn` makes neighbours differ where they can.
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
