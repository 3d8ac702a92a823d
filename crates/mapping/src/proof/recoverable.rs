//! Which values of a row can be recovered from what a template makes of them.

use dynafold_relational::catalog::{DataType, Dbms};
use dynafold_relational::value::Value;
use jiff::tz::TimeZone;

use super::domain::{Domain, ValueKind, anything};
use super::facts::{ColumnFact, ProofSubject};
use super::forms::KnownTemplate;
use super::injective::twice;
use super::meet::CommonText;
use super::text::letters;
use crate::model::{Placeholder, Template, ValuePath};
use crate::template::Filter;

/// A placeholder whose value can be recovered from the template's text.
#[derive(Debug, Clone, Copy)]
pub struct RecoverablePlaceholder<'t> {
    pub placeholder: &'t Placeholder,
    /// Whether every text gives it back. If not, only texts that split in one way do: see [`Template::is_split_once`].
    pub from_every_text: bool,
}

/// What is known of the values in an item type's rows, once they are read. Two values that the database keeps apart and
/// reads as one count as one here.
#[derive(Debug, Clone)]
pub struct RowDomains {
    columns: Vec<Domain>,
    /// Which columns may be NULL when they are read though they are not in the database.
    documents: Vec<bool>,
    time_zone: TimeZone,
    dbms: Dbms,
}

/// Before the whole table is known: nothing is known of any value.
impl Default for RowDomains {
    fn default() -> Self {
        Self {
            columns: Vec::new(),
            documents: Vec::new(),
            time_zone: TimeZone::UTC,
            dbms: Dbms::Sqlite,
        }
    }
}

impl RowDomains {
    pub(crate) fn of(subject: ProofSubject<'_>, dbms: Dbms) -> Self {
        let columns = &subject.facts.columns;
        let is_document = |column: &ColumnFact| {
            let data_type = column.data_type.as_ref();
            data_type.is_none_or(DataType::may_be_absent)
        };
        Self {
            columns: columns.iter().map(|one| as_read(one, dbms)).collect(),
            documents: columns.iter().map(is_document).collect(),
            time_zone: subject.time_zone.clone(),
            dbms,
        }
    }

    /// The values of a template that can be recovered from its text, where it holds them: no filter makes two values one. A
    /// text counts as the time that `time` reads in it.
    pub fn recoverable_placeholders<'t>(
        &self,
        template: &'t Template,
    ) -> Vec<RecoverablePlaceholder<'t>> {
        let domain = |one: &Placeholder| self.domain(&one.place);
        let known = KnownTemplate::new(template, &self.time_zone, &domain);
        let values = known.uses.iter().zip(twice(&known));
        values
            .filter(|(each, _)| self.is_lossless(each.placeholder))
            .map(|(each, twice)| RecoverablePlaceholder {
                placeholder: each.placeholder,
                from_every_text: twice == CommonText::Nothing,
            })
            .collect()
    }

    /// Whether a template may find NULL where the database has none, or where NULL is replaced: a document may be `null`, lack a
    /// member, and become NULL by a filter.
    pub fn may_lack(&self, placeholder: &Placeholder) -> bool {
        let ValuePath { column, path, .. } = &placeholder.place;
        let is_document = self.documents.get(*column).copied().unwrap_or(true);
        let mut there = self.domain(&placeholder.place);
        there.nullable = is_document || !path.is_empty() || placeholder.replaces_null();
        let made = there.through_all(&placeholder.filters, &self.time_zone);
        made.nullable
    }

    /// Whether a value is of the kind that its column's type says: SQLite keeps any value in any column.
    pub fn fits(&self, place: &ValuePath, value: &Value) -> bool {
        let kind = self.domain(place).kind;
        self.dbms != Dbms::Sqlite
            || match value {
                // A column of whole numbers may hold others.
                Value::Number(number) => match kind {
                    ValueKind::Number => {
                        let letters = letters(&self.domain(place).forms);
                        number.as_str().chars().all(|letter| letters.allows(letter))
                    }
                    kind => kind == ValueKind::Other,
                },
                Value::Text(_) => {
                    matches!(kind, ValueKind::Text | ValueKind::Uuid | ValueKind::Other)
                }
                Value::Bool(_) => matches!(kind, ValueKind::Boolean | ValueKind::Other),
                Value::Time(_) => matches!(kind, ValueKind::Time(..) | ValueKind::Other),
                Value::Bytes(_) => matches!(kind, ValueKind::Binary | ValueKind::Other),
                _ => kind == ValueKind::Other,
            }
    }

    fn domain(&self, place: &ValuePath) -> Domain {
        let column = self.columns.get(place.column);
        let column = column.filter(|_| place.path.is_empty());
        column
            .cloned()
            .unwrap_or_else(|| Domain::unknown(SEVERAL_TYPES))
    }

    /// Whether different values keep different texts through the filters.
    fn is_lossless(&self, placeholder: &Placeholder) -> bool {
        let mut domain = self.domain(&placeholder.place);
        // `time` takes texts alone.
        let is_text = matches!(placeholder.filters.first(), Some(Filter::Time(_)));
        if domain.loss.is_some() && !is_text {
            return false;
        }
        for filter in &placeholder.filters {
            domain = domain.through(filter, &self.time_zone);
            if domain.loss.is_some() && !matches!(filter, Filter::Time(_)) {
                return false;
            }
            domain.loss = None;
        }
        true
    }
}

const SEVERAL_TYPES: &str = "values of several types may have one text";

/// What a column's values are once they are read.
fn as_read(column: &ColumnFact, dbms: Dbms) -> Domain {
    let read = match &column.data_type {
        None => Domain::of_any_type(),
        Some(data_type) if dbms == Dbms::Sqlite => match data_type {
            // A declared type says nothing of how many digits a time has, nor of the case of a UUID.
            DataType::Date | DataType::Time { .. } | DataType::Timestamp { .. } => {
                let domain = Domain::typed(data_type, "", dbms);
                match data_type.time() {
                    Some((kind, _)) => domain.of_kind(ValueKind::Time(kind, None)),
                    None => domain,
                }
                .in_forms(anything())
            }
            DataType::Uuid => Domain::typed(&DataType::Text { max_chars: None }, "", dbms),
            _ => Domain::typed(data_type, "", dbms),
        },
        Some(data_type @ DataType::Text { .. }) if !column.is_ambiguous => {
            Domain::typed(data_type, "", dbms)
        }
        Some(_) => column.domain.clone(),
    };
    let loss = match (&column.data_type, read.kind) {
        // They are read as texts.
        (Some(DataType::Interval | DataType::Printed), _) => None,
        (_, ValueKind::Other) => Some(SEVERAL_TYPES.into()),
        (_, ValueKind::Binary) => read.loss.clone(),
        _ => None,
    };
    Domain {
        loss,
        nullable: column.domain.nullable,
        ..read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_one_code_for_each_character_that_fits_is_one_text_once_it_is_read() {
        let ascii = ColumnFact {
            written: "id".to_owned(),
            data_type: Some(DataType::Text {
                max_chars: Some(36),
            }),
            domain: Domain::unknown("`ascii` may have several codes for one character"),
            bytes: None,
            own_order: None,
            unclear: true,
            is_ambiguous: false,
            bounds: None,
        };
        assert_eq!(as_read(&ascii, Dbms::Mysql).loss, None);
        let cp932 = ColumnFact {
            is_ambiguous: true,
            ..ascii.clone()
        };
        let unknown = ColumnFact {
            data_type: None,
            ..ascii
        };
        for column in [cp932, unknown] {
            assert!(as_read(&column, Dbms::Mysql).loss.is_some(), "{column:?}");
        }
    }
}
