//! Whether two shapes have a text in common, and whether one text can be read in two ways.
//!
//! Both shapes are walked at once, as two automata that read the same characters. A value can be read
//! back from a text if both automata, wherever they read the same text, begin and end the value at the
//! same characters.

use std::collections::{HashMap, VecDeque, hash_map::Entry};

use super::forms::{ShapePiece, TextShape};
use super::text::CharSet;

/// A text that fits two shapes, with the values that each shape reads in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SharedText {
    pub text: String,
    /// Values by their numbers, in the first shape and in the second.
    pub(super) values: [Vec<(usize, String)>; 2],
}

/// What was found of a text in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CommonText {
    /// There is none.
    Nothing,
    Text(SharedText),
    /// Not known: the search ran out of its budget, or a shape is not known well enough.
    Unknown,
}

/// The states that a search may still visit. It bounds the time of a proof in the same way on every machine.
#[derive(Debug)]
pub(crate) struct ProofBudget(usize);

impl ProofBudget {
    /// For the templates of one item type: less than a second.
    const ONE: usize = 1 << 20;
    /// For all pairs of item types, or of access patterns and item types: seconds.
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

    /// Asks one question, which may use a part of the budget.
    pub(super) fn ask<T>(&mut self, question: impl FnOnce(&mut Self) -> T) -> T {
        let mut part = Self(self.0.min(Self::ONE));
        self.0 -= part.0;
        let answer = question(&mut part);
        self.0 += part.0;
        answer
    }

    fn take(&mut self) -> Option<()> {
        self.0 = self.0.checked_sub(1)?;
        Some(())
    }
}

/// A text that fits one shape of each, if there is one.
pub(super) fn meeting(a: &[TextShape], b: &[TextShape], work: &mut ProofBudget) -> CommonText {
    let readable_b: Vec<TextShape> = readable(b).collect();
    for a in readable(a).chain(a.iter().cloned()) {
        for b in readable_b.iter().chain(b) {
            match search(&a, b, None, work) {
                CommonText::Nothing => {}
                found => return found,
            }
        }
    }
    CommonText::Nothing
}

/// A text in which the value of this number can be read in two ways, if there is one.
pub(super) fn two_readings(
    shapes: &[TextShape],
    number: usize,
    work: &mut ProofBudget,
) -> CommonText {
    if shapes.iter().any(|shape| shape.is_vague) {
        return CommonText::Unknown;
    }
    let mut find = |shapes: &[TextShape]| {
        for a in shapes {
            for b in shapes {
                let found = match (a.has(number), b.has(number)) {
                    (true, true) => search(a, b, Some(number), work),
                    (false, false) => CommonText::Nothing,
                    _ => search(a, b, None, work),
                };
                if found != CommonText::Nothing {
                    return found;
                }
            }
        }
        CommonText::Nothing
    };
    let plain: Vec<TextShape> = readable(shapes).collect();
    match find(&plain) {
        CommonText::Nothing => find(shapes),
        found => found,
    }
}

fn readable(shapes: &[TextShape]) -> impl Iterator<Item = TextShape> {
    shapes.iter().map(TextShape::without_empty_values)
}

/// The positions of both automata, and whether the value has begun or ended at different characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct AutomataState {
    a: usize,
    b: usize,
    diverged: bool,
}

/// The state that a state was reached from, and the characters of that step.
type SearchStep = (AutomataState, CharSet);

struct TextSearch<'s> {
    a: &'s [ShapePiece],
    b: &'s [ShapePiece],
    /// Where the value begins and ends in each.
    marks: [Option<(usize, usize)>; 2],
    open: VecDeque<AutomataState>,
    reached: HashMap<AutomataState, SearchStep>,
}

fn search(
    a: &TextShape,
    b: &TextShape,
    number: Option<usize>,
    work: &mut ProofBudget,
) -> CommonText {
    let marks = |shape: &TextShape| {
        let place = |piece: ShapePiece| shape.pieces.iter().position(|other| *other == piece);
        Some((
            place(ShapePiece::Begin(number?))?,
            place(ShapePiece::End(number?))?,
        ))
    };
    let mut search = TextSearch {
        a: &a.pieces,
        b: &b.pieces,
        marks: [marks(a), marks(b)],
        open: VecDeque::new(),
        reached: HashMap::new(),
    };
    let is_vague = a.is_vague || b.is_vague;
    let start = AutomataState {
        a: 0,
        b: 0,
        diverged: number.is_none(),
    };
    search.reach(start, (start, CharSet::of("")));
    let end = AutomataState {
        a: a.pieces.len(),
        b: b.pieces.len(),
        diverged: true,
    };
    while let Some(state) = search.open.pop_front() {
        if state == end {
            return if is_vague {
                CommonText::Unknown
            } else {
                CommonText::Text(search.text_to(end))
            };
        }
        if work.take().is_none() {
            return CommonText::Unknown;
        }
        search.expand(state);
    }
    CommonText::Nothing
}

impl TextSearch<'_> {
    fn reach(&mut self, state: AutomataState, from: SearchStep) {
        if let Entry::Vacant(slot) = self.reached.entry(state) {
            slot.insert(from);
            if from.1.is_empty() {
                // Steps without a character come first, so that the shortest text is found.
                self.open.push_front(state);
            } else {
                self.open.push_back(state);
            }
        }
    }

    fn expand(&mut self, state: AutomataState) {
        let (x, y) = (self.a.get(state.a), self.b.get(state.b));
        let nothing = CharSet::of("");
        let passes = |piece| !matches!(piece, None | Some(&ShapePiece::One(..)));
        let (a, b) = (state.a + 1, state.b + 1);
        for (piece, next) in [
            (x, AutomataState { a, ..state }),
            (y, AutomataState { b, ..state }),
        ] {
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
        let next = AutomataState {
            a: state.a + usize::from(!stay_a),
            b: state.b + usize::from(!stay_b),
            diverged: state.diverged || self.is_at_different_letters(state),
        };
        self.reach(next, (state, both));
    }

    /// Whether the value has begun, or ended, in one of them and not in the other.
    fn is_at_different_letters(&self, state: AutomataState) -> bool {
        let [Some(a), Some(b)] = self.marks else {
            return false;
        };
        (state.a > a.0) != (state.b > b.0) || (state.a > a.1) != (state.b > b.1)
    }

    /// The text that led to a state.
    fn text_to(&self, end: AutomataState) -> SharedText {
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
        let mut meeting = SharedText {
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

fn letter(piece: Option<&ShapePiece>) -> Option<(CharSet, bool)> {
    match piece {
        Some(ShapePiece::One(letters, _)) => Some((*letters, false)),
        Some(ShapePiece::Many(letters, _)) => Some((*letters, true)),
        _ => None,
    }
}

fn owner(piece: Option<&ShapePiece>) -> Option<usize> {
    match piece {
        Some(ShapePiece::One(_, owner) | ShapePiece::Many(_, owner)) => *owner,
        _ => None,
    }
}
