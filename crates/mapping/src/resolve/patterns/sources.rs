//! Where parameters come from: columns, the clock, and the relational query that they stand in.

use dynafold_relational::catalog::TypeFamily;

use super::align::kind_of;
use super::bind::PatternBinder;
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::model::{ParameterOrigin, Placeholder, Template};
use crate::raw::Spanned;
use crate::resolve::scope::{find_table, unknown_column};
use crate::template::{self, Filter, Segment};

impl PatternBinder<'_> {
    /// Where the values of parameters come from.
    pub(super) fn sources(&mut self) {
        let raw = self.raw;
        for (name, from) in &raw.params {
            let is_clock = from.value.contains('{');
            let known = self.parameters.find(&name.value);
            if known.is_none() && !self.in_sql.contains(&name.value) {
                let names: Vec<String> = self.parameters.names().map(str::to_owned).collect();
                self.unknown(name, "the pattern", &names);
                continue;
            }
            if is_clock {
                if let Some(template) = self.clock(from) {
                    if let Some(at) = known {
                        self.parameters.is_counted(at, template.clone());
                    }
                    let name = name.value.as_str().into();
                    self.origins.push((name, ParameterOrigin::Clock(template)));
                }
                continue;
            }
            let Some(catalog) = self.ground.catalog else {
                continue;
            };
            let Some((table, column)) = from.value.rsplit_once('.') else {
                let message = format!("`{}` names no column", from.value);
                let help = "write table.column, or a time relative to now: \"{now | plus(-7d)}\"";
                self.tell(Code::Parameter, from.span.clone(), message, help);
                continue;
            };
            let table = from.with(table.to_owned());
            let diagnostics = self.ground.diagnostics;
            let Some(table) = find_table(&table, catalog, diagnostics) else {
                continue;
            };
            let column = column.trim_matches('"');
            match table.column(column) {
                Some(found) => {
                    let origin = ParameterOrigin::Column {
                        table: table.name.clone(),
                        column: found.name.clone(),
                    };
                    self.origins.push((name.value.as_str().into(), origin));
                    if let (Some(at), Some(kind)) = (known, kind_of(&found.data_type)) {
                        self.parameters.is_of_column(at, kind);
                    }
                }
                None => {
                    let names = table.columns.iter().map(|column| column.name.as_str());
                    let what = format!("`{}`", table.name);
                    self.ground.diagnostics.push(unknown_column(
                        column,
                        from.span.clone(),
                        &what,
                        names,
                    ));
                }
            }
        }
    }

    /// A moment that is counted from the clock.
    fn clock(&mut self, from: &Spanned<String>) -> Option<Template> {
        let fault = |message: String| {
            let fault = Diagnostic::new(Code::Parameter, from.span.clone(), message);
            fault.with_help(
                "write a time relative to now, \"{now | plus(-7d)}\", or a column, table.column",
            )
        };
        let written = match template::parse(&from.value) {
            Ok(written) => written,
            Err(errors) => {
                self.ground
                    .diagnostics
                    .extend(errors.into_iter().map(|error| fault(error.message)));
                return None;
            }
        };
        let [Segment::Placeholder(now)] = written.segments.as_slice() else {
            self.ground.diagnostics.push(fault(
                "a time relative to now is one placeholder with nothing around it".to_owned(),
            ));
            return None;
        };
        if now.path != ["now"] {
            let message = format!("`{}` is not `now`", now.written_path());
            self.ground.diagnostics.push(fault(message));
            return None;
        }
        let mut given = TypeFamily::Time;
        let mut filters = Vec::new();
        for call in &now.filters {
            let filter = Filter::compile(call).map_err(|error| error.to_string());
            let filter = filter.and_then(|filter| {
                given = filter.family(given).map_err(|error| error.to_string())?;
                Ok(filter)
            });
            match filter {
                Ok(filter) => filters.push(filter),
                Err(message) => {
                    self.ground.diagnostics.push(fault(message));
                    return None;
                }
            }
        }
        Some(Template::of(Placeholder {
            filters,
            ..Placeholder::of_column(0, "now", given)
        }))
    }

    /// Every parameter of the relational query is one of the pattern's, or a moment; and the query uses all of the
    /// pattern's.
    pub(super) fn sql(&mut self) {
        let Some(sql) = &self.raw.sql else { return };
        let counted = |name: &str| {
            let mut params = self.raw.params.iter();
            params.any(|(other, from)| other.value == name && from.value.contains('{'))
        };
        let names: Vec<String> = self.parameters.names().map(str::to_owned).collect();
        let is_unused = |name: &&String| !self.in_sql.contains(*name) && !counted(name);
        // What cannot be read may use it all the same.
        if self.query.is_some()
            && let Some(name) = names.iter().find(is_unused)
        {
            let message =
                format!("its SQL does not use `{name}`: its answer is the same for all values");
            let help = if sql.value.contains(&format!("':{name}'")) {
                format!("`':{name}'` is text: write `:{name}`, without quotes")
            } else {
                format!(
                    "compare a column with `:{name}`; if the answer is the same: accept: [unused-parameter]"
                )
            };
            let span = sql.span.clone();
            self.warnings
                .add(Code::UnusedParameter, span, message, help);
        }
        let mut reported: Vec<String> = Vec::new();
        for name in std::mem::take(&mut self.in_sql) {
            if names.contains(&name) || counted(&name) || reported.contains(&name) {
                continue;
            }
            self.unknown(&sql.with(name.clone()), "the key condition", &names);
            reported.push(name);
        }
    }

    fn unknown(&mut self, name: &Spanned<String>, of: &str, names: &[String]) {
        let help = did_you_mean(&name.value, names.iter().map(String::as_str));
        let help = help.unwrap_or_else(|| match names {
            [] => "the key condition takes no parameter".to_owned(),
            names => format!("its parameters are {}", names.join(", ")),
        });
        let message = format!("{of} has no parameter `{}`", name.value);
        self.tell(Code::Parameter, name.span.clone(), message, help);
    }
}
