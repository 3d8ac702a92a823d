//! Whether two shapes have a text in common, and whether one text can be read in two ways.
//!
//! Both shapes are gone through at once, as two automata that read the same letters. A value can be
//! read back from a text if both automata, wherever they read the same text, begin and end the value
//! at the same letters.

use std::collections::{HashMap, VecDeque, hash_map::Entry};

use super::forms::{Piece, Shape};
use super::text::Letters;

/// A text that fits two shapes, with the values that it has in each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Meeting {
    pub text: String,
    /// Values by their numbers, in the first shape and in the second.
    pub(super) values: [Vec<(usize, String)>; 2],
}

/// What was found of a text in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Common {
    /// There is none.
    Nothing,
    /// This one.
    Text(Meeting),
    /// It is not known: the search was given up, or too little is known of the shapes.
    Unknown,
}

/// States of automata that may yet be looked at: what bounds the time of a proof, the same on every machine.
#[derive(Debug)]
pub(crate) struct Work(usize);

impl Work {
    /// For the templates of one item type: less than a second.
    const ONE: usize = 1 << 20;
    /// For all that is asked of pairs of item types, or of access patterns and item types: seconds.
    const ALL: usize = 1 << 23;

    pub(crate) fn one() -> Self {
        Self(Self::ONE)
    }

    pub(crate) fn all() -> Self {
        Self(Self::ALL)
    }

    pub(crate) fn is_used_up(&self) -> bool {
        self.0 == 0
    }

    /// A part of it, for one question. What of it is left comes back by [`Work::give_back`].
    pub(super) fn part(&mut self) -> Self {
        let part = self.0.min(Self::ONE);
        self.0 -= part;
        Self(part)
    }

    pub(super) fn give_back(&mut self, part: &Self) {
        self.0 += part.0;
    }

    fn take(&mut self) -> Option<()> {
        self.0 = self.0.checked_sub(1)?;
        Some(())
    }
}

/// A text that fits one shape of each, if there is one.
pub(super) fn meeting(a: &[Shape], b: &[Shape], work: &mut Work) -> Common {
    let readable_b: Vec<Shape> = readable(b).collect();
    for a in readable(a).chain(a.iter().cloned()) {
        for b in readable_b.iter().chain(b) {
            match search(&a, b, None, work) {
                Common::Nothing => {}
                found => return found,
            }
        }
    }
    Common::Nothing
}

/// A text in which the value of this number can be read in two ways, if there is one.
pub(super) fn two_readings(shapes: &[Shape], number: usize, work: &mut Work) -> Common {
    if shapes.iter().any(|shape| shape.is_vague) {
        return Common::Unknown;
    }
    let mut find = |shapes: &[Shape]| {
        for a in shapes {
            for b in shapes {
                let found = match (a.has(number), b.has(number)) {
                    (true, true) => search(a, b, Some(number), work),
                    (false, false) => Common::Nothing,
                    _ => search(a, b, None, work),
                };
                if found != Common::Nothing {
                    return found;
                }
            }
        }
        Common::Nothing
    };
    let plain: Vec<Shape> = readable(shapes).collect();
    match find(&plain) {
        Common::Nothing => find(shapes),
        found => found,
    }
}

fn readable(shapes: &[Shape]) -> impl Iterator<Item = Shape> {
    shapes.iter().map(Shape::without_empty_values)
}

/// Where both automata are, and whether the value has begun or ended at different letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct State {
    a: usize,
    b: usize,
    differs: bool,
}

/// How a state was reached: from which one, and by which letters.
type Step = (State, Letters);

struct Search<'s> {
    a: &'s [Piece],
    b: &'s [Piece],
    /// Where the value begins and ends in each.
    marks: [Option<(usize, usize)>; 2],
    open: VecDeque<State>,
    reached: HashMap<State, Step>,
}

fn search(a: &Shape, b: &Shape, number: Option<usize>, work: &mut Work) -> Common {
    let marks = |shape: &Shape| {
        let place = |piece: Piece| shape.pieces.iter().position(|other| *other == piece);
        Some((place(Piece::Begin(number?))?, place(Piece::End(number?))?))
    };
    let mut search = Search {
        a: &a.pieces,
        b: &b.pieces,
        marks: [marks(a), marks(b)],
        open: VecDeque::new(),
        reached: HashMap::new(),
    };
    let is_vague = a.is_vague || b.is_vague;
    let start = State {
        a: 0,
        b: 0,
        differs: number.is_none(),
    };
    search.reach(start, (start, Letters::of("")));
    let end = State {
        a: a.pieces.len(),
        b: b.pieces.len(),
        differs: true,
    };
    while let Some(state) = search.open.pop_front() {
        if state == end {
            return if is_vague {
                Common::Unknown
            } else {
                Common::Text(search.told(end))
            };
        }
        if work.take().is_none() {
            return Common::Unknown;
        }
        search.go_on(state);
    }
    Common::Nothing
}

impl Search<'_> {
    fn reach(&mut self, state: State, from: Step) {
        if let Entry::Vacant(slot) = self.reached.entry(state) {
            slot.insert(from);
            if from.1.is_empty() {
                // A step without a letter comes first: so the shortest text is found.
                self.open.push_front(state);
            } else {
                self.open.push_back(state);
            }
        }
    }

    fn go_on(&mut self, state: State) {
        let (x, y) = (self.a.get(state.a), self.b.get(state.b));
        let nothing = Letters::of("");
        let passes = |piece| !matches!(piece, None | Some(&Piece::One(..)));
        let (a, b) = (state.a + 1, state.b + 1);
        for (piece, next) in [(x, State { a, ..state }), (y, State { b, ..state })] {
            if passes(piece) {
                self.reach(next, (state, nothing));
            }
        }
        let (Some((x, stay_a)), Some((y, stay_b))) = (letter(x), letter(y)) else {
            return;
        };
        let both = x.and(y);
        if both.is_empty() {
            return;
        }
        let next = State {
            a: state.a + usize::from(!stay_a),
            b: state.b + usize::from(!stay_b),
            differs: state.differs || self.apart(state),
        };
        self.reach(next, (state, both));
    }

    /// Whether the value has begun, or ended, in one of them and not in the other.
    fn apart(&self, state: State) -> bool {
        let [Some(a), Some(b)] = self.marks else {
            return false;
        };
        (state.a > a.0) != (state.b > b.0) || (state.a > a.1) != (state.b > b.1)
    }

    /// The text that led to a state.
    fn told(&self, end: State) -> Meeting {
        let mut steps = Vec::new();
        let mut at = end;
        while let Some((from, letters)) = self.reached.get(&at) {
            // The beginning leads to itself.
            if *from == at {
                break;
            }
            if !letters.is_empty() {
                steps.push((*from, *letters));
            }
            at = *from;
        }
        steps.reverse();
        let mut meeting = Meeting {
            text: String::new(),
            values: [Vec::new(), Vec::new()],
        };
        let mut free = 0;
        for (from, letters) in steps {
            let letter = letters.sample(free).unwrap_or('?');
            free += usize::from(letters.only().is_none());
            meeting.text.push(letter);
            let owners = [owner(self.a.get(from.a)), owner(self.b.get(from.b))];
            for (values, owner) in meeting.values.iter_mut().zip(owners) {
                let Some(owner) = owner else { continue };
                match values.iter_mut().find(|(number, _)| *number == owner) {
                    Some((_, value)) => value.push(letter),
                    None => values.push((owner, letter.to_string())),
                }
            }
        }
        meeting
    }
}

fn letter(piece: Option<&Piece>) -> Option<(Letters, bool)> {
    match piece {
        Some(Piece::One(letters, _)) => Some((*letters, false)),
        Some(Piece::Many(letters, _)) => Some((*letters, true)),
        _ => None,
    }
}

fn owner(piece: Option<&Piece>) -> Option<usize> {
    match piece {
        Some(Piece::One(_, owner) | Piece::Many(_, owner)) => *owner,
        _ => None,
    }
}
