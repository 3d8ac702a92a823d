//! Lines and their ends, as path data of SVG.

/// How far a line's corners are rounded.
const ROUND: i32 = 5;

/// A crow's foot, or a bar where there is at most one.
pub(super) fn child_end((x, y): (i32, i32), way: i32, unique: bool) -> String {
    if unique {
        let bar = x + way * 6;
        return format!("M{bar} {}v10", y - 5);
    }
    let tip = x + way * 9;
    format!("M{x} {}L{tip} {y}L{x} {}", y - 5, y + 5)
}

/// Two bars for exactly one; one where there may be none, whose circle is drawn apart.
pub(super) fn parent_end((x, y): (i32, i32), way: i32, optional: bool) -> String {
    let bar = |at: i32| format!("M{} {}v8", x + way * at, y - 4);
    if optional { bar(6) } else { bar(5) + &bar(8) }
}

/// A line along its corners, which are rounded as far as there is room.
pub(super) fn path(route: &[(i32, i32)]) -> String {
    let mut corners: Vec<(i32, i32)> = Vec::new();
    for &corner in route {
        // A corner on a straight line is none.
        while let [.., a, b] = corners.as_slice()
            && ((a.0 == b.0 && b.0 == corner.0) || (a.1 == b.1 && b.1 == corner.1))
        {
            corners.pop();
        }
        if corners.last() != Some(&corner) {
            corners.push(corner);
        }
    }
    let mut out = String::new();
    for (at, &(x, y)) in corners.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| corners.get(at));
        match (before, corners.get(at + 1)) {
            (None, _) => out.push_str(&format!("M{x} {y}")),
            (Some(_), None) => out.push_str(&format!("L{x} {y}")),
            (Some(&before), Some(&after)) => {
                let (from, to) = (towards((x, y), before), towards((x, y), after));
                out.push_str(&format!("L{} {}Q{x} {y} {} {}", from.0, from.1, to.0, to.1));
            }
        }
    }
    out
}

/// The point on the way to another corner where the rounding ends.
fn towards((x, y): (i32, i32), to: (i32, i32)) -> (i32, i32) {
    let step = |from: i32, to: i32| {
        let half = (to - from) / 2;
        from + half.clamp(-ROUND, ROUND)
    };
    (step(x, to.0), step(y, to.1))
}
