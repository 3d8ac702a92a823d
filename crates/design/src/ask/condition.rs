//! The conditions of a read: what is equal, what is a range, and what decides who is in an index.

use dynafold_format::text_if;
use dynafold_relational::catalog::{Column, DataType, Dbms, Table, TypeFamily};
use dynafold_sql::{
    ColumnRef, Comparator, Condition, ConditionTest, Constant, Operand, OperandValue, SqlQuery,
    Wrapping, qualified,
};

use super::comparison::{refuse_computed, refuse_value};
use super::filter::{Test, Value, is_value, of_condition, of_equal, of_list, of_range};
use super::sql::{begins, column_in, ignores_blanks, is_loose, parameter_in, text_constant};
use super::{
    Ask, Asked, At, BEGIN, BEGINNING, CLOCK, DAY, Equal, Filter, LEAVE_OUT, MATERIALIZE, NEXT_PAGE,
    Note, OF_PARAMETERS, OR_NULL, PATTERN, REWRITE, RangeAsk, Reading, SEARCH, SEVERAL, Unserved,
    Ways, When, folds_case, is_upper, unread, unserved,
};
use crate::path::{Path, Step};

/// Why no key stands for a comparison that SQLite makes without case.
const ASCII_CASE: &str = "SQLite ignores case only for ASCII letters, but a key in lower case ignores it for all letters";

/// Why no key stands for a comparison in lower case where PostgreSQL sorts by bytes.
const C_CASE: &str = "and the column has letters beyond ASCII: with the collation C, `lower` in PostgreSQL may leave them as they are, but a key in lower case changes all letters";

/// Why a condition is not served, if nothing more exact is known.
const UNUSABLE: &str = "`design` cannot turn into a key condition or a filter";

const EACH_SET: &str = "send one request for each set of values, `a = :a AND b = :b`; if these columns are the whole key, it is a GetItem";
const COLLATE: &str = "give the column this collation, or store the text in a second column in a normalized form, such as in lower case, and compare that";
const LOWER: &str = "compare in lower case, `lower(column) = lower(:value)`";

/// What a condition with parameters asks.
enum Compared {
    /// With a note if it compares in lower case.
    Equal(Equal, Option<Note>),
    Range(RangeAsk),
    Filter(Filter),
}

/// The path that a column of the query is.
type Find<'f> = &'f dyn Fn(&ColumnRef) -> Option<Path>;

impl<'c> Reading<'c, '_> {
    /// The path by which a condition's column is compared: the shortest one; a child's column is the parent's where the join holds
    /// them equal.
    pub(super) fn compared_path(&self, ways: &Ways, (at, name): At) -> Option<Path> {
        if self.may_be_missing(at) && ways.contains_key(&at) {
            return self.path(ways, at, name);
        }
        let equal = self.equal_to(&(at, name)).into_iter();
        let paths = equal
            .filter(|(one, _)| *one == at || !self.may_be_missing(*one))
            .filter_map(|(at, column)| self.path(ways, at, column));
        paths.min_by_key(|path| path.steps.len())
    }

    /// Refuses to compare a column with a parameter where its values are not those of their texts.
    fn refuse_value(&self, root: &Table, path: &Path) -> Result<(), Unserved> {
        match path.find(root, self.catalog) {
            Some((table, column)) => refuse_value(table, column, self.observed, self.catalog.dbms),
            None => Ok(()),
        }
    }

    /// Sorts the conditions; gives the ranges.
    pub(super) fn conditions(
        &self,
        root: usize,
        ways: &Ways,
        ask: &mut Ask<'c>,
    ) -> Result<Vec<RangeAsk>, Unserved> {
        let mut ranges: Vec<RangeAsk> = Vec::new();
        let path = |column: &ColumnRef| self.compared_path(ways, self.column(column)?);
        for condition in &self.conditions {
            let text = &condition.text;
            let has_parameters = condition.has_parameters();
            self.refuse_forms(condition, has_parameters)?;
            if let Some(compared) = self.compared(ask, condition, &path)? {
                match compared {
                    Compared::Equal(equal, note) => {
                        ask.equal.push(equal);
                        ask.notes.extend(note);
                    }
                    Compared::Filter(filter) => ask.filters.push(filter),
                    Compared::Range(range) => add_range(&mut ranges, range, text)?,
                }
                continue;
            }
            match &condition.test {
                // Beside parameters a pattern is meant, and decides who is in an index like any other condition.
                ConditionTest::Like {
                    operand, pattern, ..
                } if has_parameters || !self.prepared.keeps_literals => {
                    let path = column_in(operand).and_then(path);
                    ranges.push(self.like(ask, &ranges, condition, path, pattern)?);
                }
                _ if self.looks_within(condition) => {
                    return unserved(format!("matches inside texts: `{text}`"), SEARCH);
                }
                _ if has_parameters && !condition.alternatives.is_empty() => {
                    refuse_keyless(ask.root, condition, &path)?;
                    let filter = self.any_of(ask, &condition.alternatives, &path);
                    ask.filters.push(filter.ok_or_else(|| no_filter(text))?);
                }
                _ if has_parameters => {
                    let why = format!("has the condition `{text}`, which {UNUSABLE}");
                    return unserved(why, LEAVE_OUT);
                }
                test => {
                    if !self.is_compared {
                        self.refuse_unsteady(condition)?;
                    }
                    refuse_parts(test, text)?;
                    refuse_keyless(ask.root, condition, &path)?;
                    ask.notes.extend(index_note(condition));
                    let mut when = self.when(condition, root, ways)?;
                    when.filter = self.constant_filter(ask, condition, &path);
                    ask.when.push(when);
                }
            }
        }
        self.constants(ask, &path);
        self.settle(ask)?;
        ranges.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(ranges)
    }

    /// Refuses conditions by what stands in them, whatever their operator.
    fn refuse_forms(&self, condition: &Condition, has_parameters: bool) -> Result<(), Unserved> {
        let text = &condition.text;
        if condition.searches_words() {
            return unserved(format!("searches texts for words: `{text}`"), SEARCH);
        }
        if has_parameters && condition.compares_query() {
            let why = format!("asks for `{text}`, which depends on other rows");
            return unserved(why, MATERIALIZE);
        }
        if compares_several(condition) {
            let why = format!("compares several columns at once: `{text}`");
            return unserved(why, EACH_SET);
        }
        if (has_parameters || !self.prepared.keeps_literals && !is_negated(condition))
            && is_collated(condition)
        {
            let why = format!("compares with another collation than the column's: `{text}`");
            return unserved(why, COLLATE);
        }
        if has_parameters && self.is_behind_page(condition) {
            let why = format!("asks for the rows after a given one (keyset pagination): `{text}`");
            return unserved(why, NEXT_PAGE);
        }
        Ok(())
    }

    /// Sorts what was read, and refuses what no key asks for.
    fn settle(&self, ask: &mut Ask<'c>) -> Result<(), Unserved> {
        let is_list = |condition: &&&Condition| {
            let is_list = matches!(condition.test, ConditionTest::In { negated: false, .. });
            (is_list || !condition.alternatives.is_empty()) && condition.has_parameters()
        };
        if let Some(list) = self.conditions.iter().find(is_list)
            && ask.equal.is_empty()
        {
            let why = format!(
                "has `{}`, but no condition by `=` that gives a partition key",
                list.text
            );
            return unserved(why, SEVERAL);
        }
        ask.when.sort();
        ask.equal.sort_by(|a, b| a.path.cmp(&b.path));
        let mut paths = ask.equal.windows(2);
        if paths.any(|pair| matches!(pair, [a, b] if a.path == b.path)) {
            return unserved("compares one column with two parameters by `=`", REWRITE);
        }
        Ok(())
    }

    /// Whether a column's values are equal where those of its attribute are.
    fn is_exact(&self, ask: &Ask<'c>, path: &Path) -> bool {
        let column = path.column_of(ask.root, self.catalog);
        column.is_some_and(|column| !is_loose(column, self.catalog.dbms))
    }

    /// Whether a condition asks for the next page of what is sorted: `(a, b) < (:a, :b)`, `a < :a OR a = :a AND b < :b`.
    fn is_behind_page(&self, condition: &Condition) -> bool {
        let order = self.query.order.iter().flatten();
        let order =
            order.filter_map(|key| Some((self.column(key.column.as_ref()?)?, key.descending)));
        let (order, descending): (Vec<At>, Vec<bool>) = order.unzip();
        let ranged = |condition: &Condition| match &condition.test {
            ConditionTest::Compare { left, op, .. }
                if op.is_range()
                    && descending.first() == Some(&op.is_less())
                    && !left.is_computed() =>
            {
                left.columns().iter().map(|one| self.column(one)).collect()
            }
            _ => None,
        };
        let columns: Option<Vec<At>> = match condition.alternatives.split_first() {
            None => ranged(condition),
            Some((first, rest)) => ranged(first).and_then(|first: Vec<At>| {
                let rest = rest.iter().map(|part| {
                    // An AND.
                    matches!(part.test, ConditionTest::Other(_)).then_some(())?;
                    let columns = part.columns()?.into_iter();
                    let columns: Vec<At> = columns.filter_map(|one| self.column(one)).collect();
                    columns.starts_with(&first).then_some(columns)
                });
                Some(rest.collect::<Option<Vec<_>>>()?.concat())
            }),
        };
        columns.is_some_and(|mut columns| {
            columns.dedup();
            columns.len() > 1 && columns.iter().all(|one| order.contains(one))
        })
    }

    /// What OR connects as a filter, where each part asks for one and the same column.
    fn any_of(&self, ask: &Ask<'c>, parts: &[Condition], path: Find<'_>) -> Option<Filter> {
        let filters = parts.iter().map(|part| self.alternative(ask, part, path));
        let filters: Vec<Filter> = filters.collect::<Option<_>>()?;
        let path = filters.first()?.path.clone();
        let is_one = filters.iter().all(|filter| filter.path == path);
        let is_compared = self.is_exact(ask, &path) && self.refuse_value(ask.root, &path).is_ok();
        let test = Test::Any(filters.into_iter().map(|filter| filter.test).collect());
        let is_short = test.text("{}").len() <= ANY_OF;
        (is_one && is_compared && is_short).then_some(Filter { path, test })
    }

    /// A condition on a column as a filter.
    fn alternative(&self, ask: &Ask<'c>, part: &Condition, path: Find<'_>) -> Option<Filter> {
        if !part.has_parameters() {
            return self.constant_filter(ask, part, path);
        }
        if matches!(part.test, ConditionTest::In { negated: true, .. }) {
            return None;
        }
        match self.compared(ask, part, path).ok()?? {
            // Without the note: what is compared in lower case makes no filter.
            Compared::Equal(equal, _) => of_equal(&equal),
            Compared::Range(range) => of_range(&range),
            Compared::Filter(filter) => Some(filter),
        }
    }

    /// A condition without parameters as a filter, where it means the same.
    fn constant_filter(
        &self,
        ask: &Ask<'c>,
        condition: &Condition,
        path: Find<'_>,
    ) -> Option<Filter> {
        let columns = condition.columns()?;
        let [column] = columns.as_slice() else {
            return None;
        };
        let path = path(column)?;
        let (table, column) = path.find(ask.root, self.catalog)?;
        let is_mixed = self.observed.is_mixed(table, &column.name);
        let test = of_condition(condition, column, self.catalog.dbms);
        test.filter(|_| !is_mixed).map(|test| Filter { path, test })
    }

    /// What a comparison, a BETWEEN or a list with parameters asks; `None` of any other condition.
    fn compared(
        &self,
        ask: &Ask<'c>,
        condition: &Condition,
        path: Find<'_>,
    ) -> Result<Option<Compared>, Unserved> {
        let text = &condition.text;
        Ok(Some(match &condition.test {
            _ if !condition.has_parameters() => return Ok(None),
            ConditionTest::Compare { left, op, right } => {
                self.compare(ask, text, (left, *op, right), path)?
            }
            ConditionTest::Between {
                operand,
                negated: false,
                low,
                high,
            } => {
                let column = operand.column().and_then(path);
                let bounds = low.parameter().zip(high.parameter());
                let Some((column, (low, high))) = column.zip(bounds) else {
                    return computed(text);
                };
                self.refuse_range(ask, &column)?;
                Compared::Range(RangeAsk {
                    low: Some((low.to_owned(), true)),
                    high: Some((high.to_owned(), true)),
                    ..RangeAsk::of(column)
                })
            }
            ConditionTest::In {
                operand,
                negated,
                list,
            } => {
                let column = operand.column().and_then(path);
                if let Some(path) = &column {
                    self.refuse_value(ask.root, path)?;
                }
                let filter = column.and_then(|path| of_list(path, list, *negated));
                let filter = filter.filter(|filter| self.is_exact(ask, &filter.path));
                Compared::Filter(filter.ok_or_else(|| no_filter(text))?)
            }
            _ => return Ok(None),
        }))
    }

    /// Refuses a condition that may hold at one time and not at another: by the clock, by chance, by who asks, by what
    /// a function does that is not known to give the same for the same.
    pub(super) fn refuse_unsteady(&self, condition: &Condition) -> Result<(), Unserved> {
        let text = &condition.text;
        let query = SqlQuery::read(&format!("SELECT 1 WHERE {text}"), Some(self.catalog.dbms));
        let query = query.map_err(|error| unread(&error))?;
        // Only what begins so is read as a time, and in an array or a range each element may.
        let is_time = |literal: &str| {
            let bare = literal.trim_start_matches('\'');
            let is_list = bare.starts_with(['{', '[', '(']);
            let delimiters: &[char] = if is_list { &['{', ',', '[', '('] } else { &[] };
            literal.split(delimiters).any(|element| {
                let mut words = element.split(|c: char| !c.is_alphanumeric());
                let first = words.find(|word| !word.is_empty());
                first.is_some_and(|word| ["now", "today", "tomorrow", "yesterday"].contains(&word))
            })
        };
        // A label of an enumeration is the same at any time.
        let columns = self.tables.iter().flat_map(|table| &table.columns);
        let labels = columns.filter(|column| match &column.data_type {
            DataType::Array { element } => matches!(**element, DataType::Enum { .. }),
            data_type => matches!(data_type, DataType::Enum { .. }),
        });
        let casts = labels.map(|column| format!("::{}", column.declared));
        let casts: Vec<String> = casts.collect();
        let is_label = |word: &String| casts.iter().any(|cast| word.ends_with(cast));
        let mut unsteady = query.unsteady.iter().filter(|word| !is_label(word));
        let word = unsteady.find(|word| !word.starts_with('\'') || is_time(word));
        let own = query.functions.iter();
        let mut own = own.filter(|name| self.catalog.own_functions.contains(*name));
        match word.or_else(|| own.next()) {
            Some(word) => {
                let why = "whose result may change while the row stays the same";
                unserved(format!("asks for `{text}`, {why} (`{word}`)"), CLOCK)
            }
            None if self.is_in_zone(condition) => {
                let why = "whose result depends on the session's time zone";
                unserved(format!("asks for `{text}`, {why}"), CLOCK)
            }
            None => Ok(()),
        }
    }

    /// Whether it computes something of a moment, which servers read in the session's time zone.
    fn is_in_zone(&self, condition: &Condition) -> bool {
        let data_type = |column: &ColumnRef| {
            let (_, found) = self.found(&self.column(column)?)?;
            Some(&found.data_type)
        };
        let is_moment = |column: &ColumnRef| {
            matches!(
                data_type(column),
                Some(DataType::Timestamp { zone: true, .. })
            )
        };
        // A text that it is compared with says which moment it is only by an offset; MariaDB ignores that, and MySQL ignores `Z`.
        let has_offsets = self.catalog.dbms == Dbms::Postgres;
        let is_local = |one: &&Operand| match &one.value {
            OperandValue::Constant(Constant::Text(text)) => {
                !has_offsets || !is_moment_anywhere(text)
            }
            // MySQL reads 20260131 as a day.
            OperandValue::Constant(constant) => {
                matches!(constant, Constant::Other | Constant::Number(_))
            }
            // A date, or a time without a zone.
            OperandValue::Column(column) => {
                let family = data_type(column).map(DataType::family);
                family == Some(TypeFamily::Time) && !is_moment(column)
            }
            _ => false,
        };
        let operands = condition.operands();
        let has_local = operands.iter().any(is_local);
        let mut computed = operands
            .into_iter()
            .filter(|one| (has_local || one.is_computed()) && !one.has_query());
        let parts = match &condition.test {
            ConditionTest::Other(_) if condition.alternatives.is_empty() => {
                parts_of(condition, self.catalog.dbms)
            }
            _ => condition.alternatives.clone(),
        };
        // What has no parts may compute something within, or compare with a text.
        let mut signs = ["::", "CAST(", "'"].into_iter();
        let has_sign = signs.any(|sign| condition.text.contains(sign));
        let is_within = matches!(
            &condition.test,
            ConditionTest::Other(within)
                if parts.is_empty()
                    && (has_sign || !within.functions.is_empty())
                    && !within.has_query
                    && within.columns.iter().any(is_moment)
        );
        self.catalog.dbms != Dbms::Sqlite
            && (is_within
                || parts.iter().any(|part| self.is_in_zone(part))
                || computed.any(|one| one.columns().iter().any(is_moment)))
    }

    /// Reads a comparison with a parameter.
    fn compare(
        &self,
        ask: &Ask<'c>,
        text: &str,
        (left, op, right): (&Operand, Comparator, &Operand),
        path: Find<'_>,
    ) -> Result<Compared, Unserved> {
        let column = column_in(left).and_then(path);
        let parameter = parameter_in(right).map(str::to_owned);
        let Some((column, parameter)) = column.zip(parameter) else {
            if !left.parameters().is_empty() {
                let why = format!("asks for `{text}`, which is computed from parameters");
                return unserved(why, OF_PARAMETERS);
            }
            if op == Comparator::Equal && self.is_day(ask, left, path) {
                return unserved(format!("asks for `{text}`, which is computed"), DAY);
            }
            return computed(text);
        };
        self.refuse_value(ask.root, &column)?;
        let found = column.find(ask.root, self.catalog);
        let [folds, folds_parameter] = [left, right].map(folds_case);
        let is_plain = !folds && !folds_parameter;
        if let Some((_, column)) = found.filter(|_| !is_plain) {
            refuse_computed(column, text, self.catalog.dbms)?;
        }
        let is_nocase = op == Comparator::Equal
            && left.around.is_empty()
            && found.is_some_and(|(table, column)| self.is_lower_enough(table, column));
        self.refuse_upper(ask, &column, text, [left, right])?;
        let note =
            (!is_plain || is_nocase).then(|| self.fold(ask, &column, text, folds || is_nocase));
        let note = note.transpose()?;
        Ok(match op {
            Comparator::Equal => {
                let equal = Equal {
                    path: column,
                    value: Asked::Parameter(parameter),
                    folds: folds || is_nocase,
                    folds_parameter: folds_parameter || is_nocase,
                    when: None,
                };
                Compared::Equal(equal, note)
            }
            Comparator::NotEqual if is_plain => {
                if !self.is_exact(ask, &column) {
                    let why = format!(
                        "has the condition `{text}`, but the database may treat different texts of {} as equal",
                        column.column
                    );
                    return unserved(why, MATERIALIZE);
                }
                Compared::Filter(Filter {
                    path: column,
                    test: Test::Compare(op, Value::Parameter(parameter)),
                })
            }
            _ if is_plain && op.is_range() => {
                self.refuse_range(ask, &column)?;
                let is_in = matches!(op, Comparator::LessOrEqual | Comparator::GreaterOrEqual);
                let bound = Some((parameter, is_in));
                let mut range = RangeAsk::of(column);
                if op.is_less() {
                    range.high = bound;
                } else {
                    range.low = bound;
                }
                Compared::Range(range)
            }
            _ => {
                let why = format!("has the condition `{text}`, which {UNUSABLE}");
                let is_equal = op == Comparator::NotDistinct;
                return unserved(why, if is_equal { OR_NULL } else { MATERIALIZE });
            }
        })
    }

    /// Whether an operand is the day of a time.
    fn is_day(&self, ask: &Ask<'c>, operand: &Operand, path: Find<'_>) -> bool {
        let OperandValue::Column(column) = &operand.value else {
            return false;
        };
        let is_cut = match operand.around.as_slice() {
            [Wrapping::Cast(to)] => to.eq_ignore_ascii_case("date"),
            [Wrapping::Function(name)] => name == "date",
            _ => false,
        };
        let path = path(column);
        let column = path.and_then(|path| path.column_of(ask.root, self.catalog));
        is_cut && column.is_some_and(|one| matches!(one.data_type, DataType::Timestamp { .. }))
    }

    /// Whether all texts of a column are known to be ASCII.
    fn is_ascii(&self, ask: &Ask<'c>, column: &Path) -> bool {
        let found = column.find(ask.root, self.catalog);
        found.is_some_and(|(table, column)| self.observed.is_ascii(table, &column.name))
    }

    /// A note that the application asks for a column in lower case. `folds`: the key has it in lower case too. SQLite's `lower` is that of
    /// ASCII letters alone: it is the same only if the column has no others. Other databases' is that of a collation, which mostly is the same.
    fn fold(
        &self,
        ask: &Ask<'c>,
        column: &Path,
        text: &str,
        folds: bool,
    ) -> Result<Note, Unserved> {
        let is_ascii = self.is_ascii(ask, column);
        if self.catalog.dbms == Dbms::Sqlite && !is_ascii {
            return unserved(format!("asks for `{text}`: {ASCII_CASE}"), MATERIALIZE);
        }
        let found = column.find(ask.root, self.catalog);
        let is_other = found.is_some_and(|(table, column)| {
            column.collation.is_none() && self.observed.is_beyond_ascii(table, &column.name)
        });
        if self.catalog.dbms == Dbms::Postgres && is_other {
            return unserved(format!("asks for `{text}`, {C_CASE}"), MATERIALIZE);
        }
        let other_letters = if is_ascii {
            ""
        } else {
            "; for letters beyond ASCII this means Unicode's lower case, which may differ from the database's `lower` (`É` under the collation C, `İ`, `Σ` at the end of a word)"
        };
        let column = &column.column;
        let stands = text_if(folds, format!("{column} is in lower case in the key: "));
        let note = format!("{stands}the application passes {column} in lower case{other_letters}");
        Ok(note.into())
    }

    /// Refuses upper case where it is not as good as lower case: beyond ASCII texts may be equal in upper case alone, and a parameter
    /// that is in upper case is in no key.
    fn refuse_upper(
        &self,
        ask: &Ask<'c>,
        column: &Path,
        text: &str,
        sides: [&Operand; 2],
    ) -> Result<(), Unserved> {
        let has_upper = sides.into_iter().any(is_upper);
        if has_upper && !(self.is_ascii(ask, column) && sides.into_iter().all(is_upper)) {
            let why = format!("compares in upper case: `{text}`");
            return unserved(why, LOWER);
        }
        Ok(())
    }

    /// What a text begins with.
    fn like(
        &self,
        ask: &mut Ask<'c>,
        ranges: &[RangeAsk],
        condition: &Condition,
        column: Option<Path>,
        pattern: &Operand,
    ) -> Result<RangeAsk, Unserved> {
        let text = &condition.text;
        let Some((operand, beginning)) = begins(condition) else {
            let (why, instead) = match &pattern.value {
                OperandValue::Parameter(_) => ("but the pattern may match inside texts", PATTERN),
                OperandValue::Constant(Constant::Text(said)) if !said.starts_with(['%', '_']) => {
                    ("which is more than a prefix", BEGINNING)
                }
                _ => return unserved(format!("matches inside texts: `{text}`"), SEARCH),
            };
            return unserved(format!("asks for `{text}`, {why}"), instead);
        };
        let Some(column) = column else {
            return computed(text);
        };
        let Some(parameter) = parameter_in(beginning) else {
            let why = format!("asks for `{text}`, whose prefix is computed");
            return unserved(why, BEGIN);
        };
        if ranges.iter().any(|range| range.path == column) {
            return unserved("has two ranges of one column", REWRITE);
        }
        let found = column.column_of(ask.root, self.catalog);
        let found = found.filter(|found| matches!(found.data_type, DataType::Text { .. }));
        let Some(found) = found else {
            let name = &column.column;
            let why = format!("asks for a prefix of {name}, which is not text");
            return unserved(why, MATERIALIZE);
        };
        refuse_computed(found, text, self.catalog.dbms)?;
        self.refuse_value(ask.root, &column)?;
        self.refuse_upper(ask, &column, text, [operand, beginning])?;
        let [folds, folds_parameter] = self.folded(condition);
        if folds || folds_parameter {
            let note = self.fold(ask, &column, text, folds)?;
            ask.note(note);
        }
        ask.note(format!(
            "`_` and `%` in `{parameter}` are ordinary characters"
        ));
        Ok(RangeAsk {
            prefix: Some(parameter.to_owned()),
            folds,
            folds_parameter,
            ..RangeAsk::of(column)
        })
    }

    /// What a column is by the query's own words, beside parameters, is a part of the key rather than an index of its own:
    /// one key serves all of its values.
    fn constants(&self, ask: &mut Ask<'c>, path: Find<'_>) {
        if ask.equal.is_empty() {
            return;
        }
        for condition in &self.conditions {
            let Some((column, text)) = text_constant(condition) else {
                continue;
            };
            let Some(path) = path(column) else {
                continue;
            };
            let found = path.find(ask.root, self.catalog);
            if !found.is_some_and(|(_, column)| self.is_key_constant(text, column))
                || ask.equal.iter().any(|equal| equal.path == path)
            {
                continue;
            }
            let same = |when: &mut When| when.said == condition.text;
            let when = ask.when.extract_if(.., same).last();
            let held = Note::IndexHoldsOnly(condition.text.clone());
            ask.notes.retain(|note| *note != held);
            ask.equal.push(Equal {
                path,
                value: Asked::Constant(text.to_owned()),
                folds: false,
                folds_parameter: false,
                when,
            });
        }
    }

    /// Whether a text that a query compares a column with may stand in a key.
    pub(super) fn is_key_constant(&self, text: &str, column: &Column) -> bool {
        let dbms = self.catalog.dbms;
        let is_plain = !text.contains(|sign: char| sign == '#' || sign.is_control());
        !column.insensitive
            && !ignores_blanks(column, dbms)
            && is_value(text, column, dbms)
            && !text.is_empty()
            && is_plain
    }

    /// Refuses a range of values that DynamoDB does not sort as the database does.
    fn refuse_range(&self, ask: &Ask<'c>, path: &Path) -> Result<(), Unserved> {
        self.refuse_value(ask.root, path)?;
        let column = path.column_of(ask.root, self.catalog);
        // An enum is sorted by the numbers of its labels.
        let text = column.filter(|column| !matches!(column.data_type, DataType::Enum { .. }));
        if let Some(collation) = text.and_then(|column| column.collation.as_ref()) {
            return unserved(
                format!(
                    "asks for a range of texts in collation {collation}, but DynamoDB sorts by bytes"
                ),
                "write COLLATE \"C\", BINARY, utf8mb4_0900_bin (MySQL) or utf8mb4_nopad_bin (MariaDB) if byte order is acceptable",
            );
        }
        if column.is_some_and(|column| column.data_type == DataType::Boolean) {
            let why = "asks for a range of booleans, which DynamoDB does not sort";
            return unserved(why, "ask for it by `=`");
        }
        if let Some(column) = self.unsortable(ask.root, path) {
            return unserved(format!("asks for a range of {column}"), MATERIALIZE);
        }
        Ok(())
    }

    /// A condition without parameters, over the item type's names.
    fn when(&self, condition: &Condition, root: usize, ways: &Ways) -> Result<When, Unserved> {
        let parents = std::cell::RefCell::new(Vec::<Vec<Step>>::new());
        let is_lost = std::cell::Cell::new(false);
        let root_name = self.tables.get(root).map(|table| &table.name.name);
        let owner = |owner: Option<&str>, name: &str| {
            // None of a query within it.
            let found = self.relation_of(owner, name)?;
            if found == root {
                return root_name.cloned();
            }
            match ways.get(&found) {
                Some(way) => {
                    let mut parents = parents.borrow_mut();
                    let known = parents.iter().position(|one| one == way);
                    let place = known.unwrap_or(parents.len());
                    if known.is_none() {
                        parents.push(way.clone());
                    }
                    Some(format!("parent_{place}"))
                }
                None => {
                    is_lost.set(true);
                    None
                }
            }
        };
        let text = qualified(&condition.text, self.catalog.dbms, &owner);
        let Some(text) = text.filter(|_| !is_lost.get()) else {
            let why = format!(
                "has the condition `{}`, which `design` cannot write for one item type",
                condition.text
            );
            return unserved(why, REWRITE);
        };
        Ok(When {
            text,
            parents: parents.into_inner(),
            said: condition.text.clone(),
            filter: None,
        })
    }

    /// Whether a part of an OR matches a pattern that is asked for inside texts, which no Query answers.
    fn looks_within(&self, condition: &Condition) -> bool {
        condition.alternatives.iter().any(|part| {
            let is_like =
                matches!(&part.test, ConditionTest::Like { beginning, .. } if beginning.is_none());
            is_like && (part.has_parameters() || !self.prepared.keeps_literals)
        })
    }
}

/// Adds a range between bounds to those of the read, or its bounds to the range of the same column.
fn add_range(ranges: &mut Vec<RangeAsk>, range: RangeAsk, text: &str) -> Result<(), Unserved> {
    let Some(known) = ranges.iter_mut().find(|known| known.path == range.path) else {
        ranges.push(range);
        return Ok(());
    };
    if known.prefix.is_some() {
        return unserved("has two ranges of one column", REWRITE);
    }
    if known.low.is_some() && range.low.is_some() || known.high.is_some() && range.high.is_some() {
        let why = format!("has two bounds on the same side of one column: `{text}`");
        return unserved(why, "ask for the narrower of the two");
    }
    known.low = known.low.take().or(range.low);
    known.high = known.high.take().or(range.high);
    Ok(())
}

fn no_filter(text: &str) -> Unserved {
    Unserved {
        why: format!("has the condition `{text}`, which `design` cannot turn into a filter"),
        instead: SEVERAL,
    }
}

fn computed<T>(text: &str) -> Result<T, Unserved> {
    unserved(format!("asks for `{text}`, which is computed"), MATERIALIZE)
}

/// Whether a literal of a condition is no example of what is asked for.
fn is_negated(condition: &Condition) -> bool {
    match condition.test {
        ConditionTest::Compare { op, .. } => op == Comparator::NotEqual,
        ConditionTest::In { negated, .. } | ConditionTest::Between { negated, .. } => negated,
        _ => false,
    }
}

/// Whether a condition, or a part of an OR, compares a value under another collation than the column's.
fn is_collated(condition: &Condition) -> bool {
    let has_collation = |operand: &Operand| {
        let mut around = operand.around.iter();
        around.any(|wrapping| matches!(wrapping, Wrapping::Collate(_)))
    };
    condition.operands().into_iter().skip(1).any(has_collation)
        || condition.alternatives.iter().any(is_collated)
}

/// What AND connects within a condition, and what NOT is in front of; nothing of any other condition.
fn parts_of(condition: &Condition, dbms: Dbms) -> Vec<Condition> {
    let negated = condition.text.strip_prefix("NOT ");
    let text = negated.unwrap_or(&condition.text);
    let query = SqlQuery::read(&format!("SELECT 1 WHERE {text}"), Some(dbms)).ok();
    let select = query.as_ref().and_then(SqlQuery::select);
    let parts = select.map_or_else(Vec::new, |select| select.conditions.clone());
    if negated.is_some() || parts.len() > 1 {
        parts
    } else {
        Vec::new()
    }
}

/// Whether a text is the same moment in every time zone: `2026-01-31T10:00:00Z`, `2026-01-31 10:00:00+01`.
fn is_moment_anywhere(text: &str) -> bool {
    let offset = text.rsplit_once(['+', '-']);
    text.ends_with(['Z', 'z'])
        || text.trim_start_matches('-') == "infinity"
        || offset.is_some_and(|(time, _)| time.contains(':'))
}

/// A note on a condition that decides which rows an index holds.
fn index_note(condition: &Condition) -> Option<Note> {
    let text = &condition.text;
    let has_query = condition.compares_query()
        || matches!(&condition.test, ConditionTest::Other(expression) if expression.has_query);
    if has_query {
        return Some(Note::Text(format!(
            "`{text}` depends on other rows: a program that changes those rows must write this item again. The rows that meet it are not counted: the estimate assumes a tenth of all"
        )));
    }
    let has_value = text.contains(|sign: char| sign == '\'' || sign.is_ascii_digit());
    has_value.then(|| Note::IndexHoldsOnly(text.clone()))
}

/// Refuses to ask for rows with NULL in the key of their table, as SQLite may have, also by a part of an OR.
fn refuse_keyless(root: &Table, condition: &Condition, path: Find<'_>) -> Result<(), Unserved> {
    let mut parts = condition.alternatives.iter();
    parts.try_for_each(|part| refuse_keyless(root, part, path))?;
    let key: Vec<Path> = root.row_key().iter().map(|one| Path::own(one)).collect();
    let (may_be_null, is_null) = match &condition.test {
        ConditionTest::Null { negated, .. } => (!negated, true),
        ConditionTest::Other(expression)
        | ConditionTest::Compare {
            left:
                Operand {
                    value: OperandValue::Expression(expression),
                    ..
                },
            ..
        } if condition.alternatives.is_empty() => {
            let is_known = expression.functions.is_empty();
            (condition.accepts_null || !is_known, false)
        }
        _ => (false, false),
    };
    let is_nullable = |path: &Path| root.column(&path.column).is_some_and(|one| one.nullable);
    let columns = condition.columns().unwrap_or_default();
    let mut asked = columns.into_iter().filter_map(path);
    let is_keyless =
        may_be_null && asked.any(|asked| key.contains(&asked) && (is_null || is_nullable(&asked)));
    if is_keyless {
        let why = "asks for rows with NULL in the table's key, which cannot become items";
        return unserved(why, "give such rows a value in the database");
    }
    Ok(())
}

/// Most bytes of the filter that an OR becomes: DynamoDB takes 4,096 of a whole one.
const ANY_OF: usize = 2_048;

/// Whether rows of several columns are compared for equality: `(a, b) IN ((1, 2), (3, 4))`.
fn compares_several(condition: &Condition) -> bool {
    let is_equality = match &condition.test {
        ConditionTest::In { .. } => true,
        ConditionTest::Compare { op, .. } => {
            matches!(op, Comparator::Equal | Comparator::NotEqual)
        }
        _ => false,
    };
    is_equality && begins_with_row(&condition.text)
        || condition.alternatives.iter().any(compares_several)
}

/// Whether a condition begins with several values in parentheses, `(a, b)` or `ROW(a, b)`.
fn begins_with_row(text: &str) -> bool {
    let text = text.strip_prefix("ROW").unwrap_or(text);
    let mut depth = 0_usize;
    for sign in text.chars() {
        match sign {
            '(' => depth += 1,
            ')' if depth == 1 => return false,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 1 => return true,
            _ if depth == 0 => return false,
            _ => {}
        }
    }
    false
}

/// Refuses conditions that compare with nothing plain, and those of which one part may hold without the other.
fn refuse_parts(test: &ConditionTest, text: &str) -> Result<(), Unserved> {
    if let ConditionTest::Compare { left, right, op } = test {
        if left.columns().is_empty() || !right.columns().is_empty() && left.column().is_none() {
            let why = format!("has the condition `{text}`, which `design` cannot use");
            return unserved(why, REWRITE);
        }
        let is_null =
            |operand: &Operand| matches!(operand.value, OperandValue::Constant(Constant::Null));
        if is_null(left) || is_null(right) {
            let is_never = *op != Comparator::NotDistinct;
            let none = text_if(is_never, ", which no row satisfies");
            return unserved(format!("has the condition `{text}`{none}"), "write IS NULL");
        }
        if left.has_query() || begins_with_row(text) {
            return computed(text);
        }
    }
    let is_simple = matches!(test, ConditionTest::Other(expression) if !expression.has_query);
    if is_simple && text.contains(" OR ") {
        return unserved(format!("has an OR: `{text}`"), SEVERAL);
    }
    Ok(())
}
