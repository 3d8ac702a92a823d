//! `params` and `sql` of an access pattern: where the values of its parameters come from.

use dynafold_format::each_once;
use dynafold_relational::catalog::{Catalog, Column, Table, TypeFamily};

use super::align::kind_of;
use super::bind::PatternBinder;
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::model::{ParameterOrigin, Placeholder, Template};
use crate::raw::Spanned;
use crate::resolve::scope::{find_table, unknown_column};
use crate::template::{self, Filter, Segment};

impl PatternBinder<'_> {
    /// Binds `params`: each names a column, or a time relative to now.
    pub(super) fn bind_params(&mut self) {
        let raw = self.raw;
        for (name, from) in &raw.params {
            let is_clock = from.value.contains('{');
            let known = self.parameters.find(&name.value);
            if known.is_none() && !self.in_sql.contains(&name.value) {
                let names: Vec<String> = self.parameters.names().map(str::to_owned).collect();
                self.report_unknown(name, &names);
                continue;
            }
            if is_clock {
                if let Some(template) = self.clock(from) {
                    if let Some(at) = known {
                        self.parameters.set_clock(at, template.clone());
                    }
                    let name = name.value.as_str().into();
                    self.origins.push((name, ParameterOrigin::Clock(template)));
                }
                continue;
            }
            let Some(catalog) = self.context.catalog else {
                continue;
            };
            let Some((table, column)) = self.column(from, catalog) else {
                continue;
            };
            let origin = ParameterOrigin::Column {
                table: table.name.clone(),
                column: column.name.clone(),
            };
            self.origins.push((name.value.as_str().into(), origin));
            if let (Some(at), Some(kind)) = (known, kind_of(&column.data_type)) {
                self.parameters.set_column_kind(at, kind);
            }
        }
    }

    /// Finds the column that is written `table.column`; reports one that there is not.
    fn column<'c>(
        &mut self,
        written: &Spanned<String>,
        catalog: &'c Catalog,
    ) -> Option<(&'c Table, &'c Column)> {
        // A name in quotes may have points.
        let unquoted = written.value.strip_suffix('"');
        let split = unquoted.and_then(|text| text.rsplit_once(".\""));
        let Some((table_name, column_name)) = split.or_else(|| written.value.rsplit_once('.'))
        else {
            let message = format!("`{}` names no column", written.value);
            let help = "write table.column, or a time relative to now: \"{now | plus(-7d)}\"";
            self.report(Code::Parameter, written.span.clone(), message, help);
            return None;
        };
        let diagnostics = self.context.diagnostics;
        let table = find_table(&written.with(table_name.to_owned()), catalog, diagnostics)?;
        let column_name = column_name.trim_matches('"');
        let column = table.column(column_name);
        if column.is_none() {
            let names = table.columns.iter().map(|column| column.name.as_str());
            let what = format!("`{}`", table.name);
            let span = written.span.clone();
            diagnostics.push(unknown_column(column_name, span, &what, names));
        }
        Some((table, column?))
    }

    /// Compiles a time relative to now, which is one placeholder that begins with `now`. Reports any other text.
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
                self.context
                    .diagnostics
                    .extend(errors.into_iter().map(|error| fault(error.message)));
                return None;
            }
        };
        let [Segment::Placeholder(now)] = written.segments.as_slice() else {
            self.context.diagnostics.push(fault(
                "a time relative to now is one placeholder with nothing around it".to_owned(),
            ));
            return None;
        };
        if now.path != ["now"] {
            let message = format!("`{}` is not `now`", now.written_path());
            self.context.diagnostics.push(fault(message));
            return None;
        }
        let mut given = TypeFamily::Time;
        let mut filters = Vec::new();
        for call in &now.filters {
            let compiled = Filter::compile(call)
                .map_err(|error| error.to_string())
                .and_then(|filter| {
                    given = filter.family(given).map_err(|error| error.to_string())?;
                    Ok(filter)
                });
            match compiled {
                Ok(filter) => filters.push(filter),
                Err(message) => {
                    self.context.diagnostics.push(fault(message));
                    return None;
                }
            }
        }
        Some(Template::of(Placeholder {
            filters,
            ..Placeholder::of_column(0, "now", given)
        }))
    }

    /// Checks that each parameter of the SQL is one of the pattern or a time relative to now, and that the SQL uses all
    /// parameters of the pattern.
    pub(super) fn check_sql_parameters(&mut self) {
        let Some(sql) = &self.raw.sql else { return };
        let is_time = |name: &str| {
            let mut params = self.raw.params.iter();
            params.any(|(other, from)| other.value == name && from.value.contains('{'))
        };
        let names: Vec<String> = self.parameters.names().map(str::to_owned).collect();
        let is_unused = |name: &&String| !self.in_sql.contains(*name) && !is_time(name);
        // SQL that cannot be read may use it.
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
        let is_unknown = |name: &&String| !names.contains(*name) && !is_time(name);
        let unknown = self.in_sql.iter().filter(is_unknown).cloned();
        for name in each_once(unknown) {
            self.report_unknown(&sql.with(name), &names);
        }
    }

    /// Reports a parameter that is not one of `names`, those of the key condition and the filter.
    fn report_unknown(&mut self, name: &Spanned<String>, names: &[String]) {
        let nearest = did_you_mean(&name.value, names.iter().map(String::as_str));
        let help = nearest.unwrap_or_else(|| match names {
            [] => "the pattern has no parameters".to_owned(),
            names => format!("its parameters are {}", names.join(", ")),
        });
        let message = format!(
            "neither the key condition nor the filter has a parameter `{}`",
            name.value
        );
        self.report(Code::Parameter, name.span.clone(), message, help);
    }
}
