//! What is counted in the rows of a source before a table is designed for them.

use std::collections::BTreeSet;

use crate::catalog::{Catalog, Column, DataType, Dbms, Table, TableName, TypeFamily};
use crate::cli::failure::Failure;
use crate::design::workload::Statement;
use crate::design::{self, ColumnSample, Observed};
use crate::format::{float, joined};
use crate::scan::{Relation, Scan, ScanColumn};
use crate::source::Source;

/// Rows of each table that are counted.
pub(super) const ROWS: u32 = 100_000;

/// The words of a workload.
struct Words(BTreeSet<String>);

impl Words {
    fn of(statements: &[Statement]) -> Self {
        let words = statements.iter().flat_map(|one| one.sql.split(is_between));
        Self(words.map(str::to_lowercase).collect())
    }

    /// Whether they name something: a name with odd signs is several words.
    fn have(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        let mut parts = name.split(is_between);
        parts.all(|part| self.0.contains(part))
    }
}

/// Whether a letter stands between words.
fn is_between(letter: char) -> bool {
    !letter.is_alphanumeric() && letter != '_'
}

/// Scans of the tables that a workload names.
pub(super) fn scans(catalog: &Catalog, statements: &[Statement]) -> Vec<Scan> {
    let words = Words::of(statements);
    let is_named = |table: &Table| words.have(&table.name.name);
    let tables = catalog
        .tables
        .iter()
        .filter(|table| table.is_stored() && table.readable && !table.columns.is_empty());
    let named = tables.filter(|table| is_named(table));
    named
        .map(|table| Scan::of(Relation::Table(table.name.clone()), shown(table)))
        .collect()
}

/// The columns of a table that stand for its `*`, which the database refuses where the user may not read others; none where it does not.
fn shown(table: &Table) -> Vec<ScanColumn> {
    let columns = table
        .columns
        .iter()
        .filter(|_| table.hidden_columns.is_some())
        .map(|column| ScanColumn::Column {
            join: None,
            name: column.name.clone(),
            data_type: column.data_type.clone(),
        });
    columns.collect()
}

/// Counts rows, values and bytes in the first rows of each table. The source's snapshot is open.
pub(super) async fn observe(
    source: &mut dyn Source,
    catalog: &Catalog,
    scans: &[Scan],
    statements: &[Statement],
) -> Result<Observed, Failure> {
    let words = Words::of(statements);
    let mut observed = Observed::default();
    for scan in scans {
        let name = scan.from.table();
        let Some(table) = name.and_then(|name| catalog.table(name)) else {
            continue;
        };
        let columns: Vec<&Column> = table.columns.iter().filter(|one| is_counted(one)).collect();
        if columns.is_empty() {
            continue;
        }
        let sql = question(source, catalog.dbms, scan, &columns);
        let counted = source.numbers(&sql, scan).await?;
        let Some((rows, rest)) = counted.first().and_then(|row| row.split_first()) else {
            continue;
        };
        let mut figures = rest.iter().copied();
        for column in columns {
            let mut next = || figures.next().unwrap_or_default();
            let mut sample = ColumnSample {
                rows: *rows,
                present: next(),
                distinct: next(),
                bytes: next(),
                chars: next(),
                longest: next(),
                digits: next(),
                unescaped: next(),
                mixed: next(),
                day_first: next(),
                offsets: next(),
                most: 0,
                is_all: *rows < u64::from(ROWS),
            };
            // Where each row has a value to itself none is frequent.
            let is_repeated = sample.distinct < sample.present && sample.distinct > 0;
            if is_repeated && words.have(&column.name) {
                sample.most = most_frequent(source, scan, column).await?;
            }
            let place = (table.name.clone(), column.name.clone());
            observed.columns.insert(place, sample);
        }
    }
    let conditions = design::conditions(catalog, statements, &observed);
    count(source, scans, conditions, &mut observed).await?;
    Ok(observed)
}

/// Counts the rows that meet conditions of tables that are scanned. The source's snapshot is open.
pub(super) async fn count(
    source: &mut dyn Source,
    scans: &[Scan],
    conditions: BTreeSet<(TableName, String)>,
    observed: &mut Observed,
) -> Result<(), Failure> {
    for (name, condition) in conditions {
        let counted = (name, condition);
        if observed.conditions.contains_key(&counted) {
            continue;
        }
        let (name, condition) = counted;
        let mut scans = scans.iter();
        let own = scans.find(|scan| scan.from == Relation::Table(name.clone()));
        if let Some(scan) = own {
            let share = share(source, scan, &name, &condition).await;
            let share = share.map_err(|mut failure| {
                let message = format!(
                    "a condition of the workload on {} cannot be counted: `{condition}`",
                    name.name
                );
                failure
                    .causes
                    .insert(0, std::mem::replace(&mut failure.message, message));
                failure
            })?;
            observed
                .conditions
                .extend(share.map(|share| ((name, condition), share)));
        }
    }
    Ok(())
}

/// How many rows have the most frequent value of a column.
async fn most_frequent(
    source: &mut dyn Source,
    scan: &Scan,
    column: &Column,
) -> Result<u64, Failure> {
    let dialect = source.dialect();
    let name = dialect.quote(&column.name);
    let (relation, count) = (dialect.relation(&scan.from), dialect.count());
    let sql = format!(
        "SELECT {count} AS n FROM (SELECT {name} FROM {relation} LIMIT {ROWS}) AS q \
         WHERE {name} IS NOT NULL GROUP BY {name} ORDER BY 1 DESC LIMIT 1"
    );
    number(source, &sql, scan).await
}

/// The share of rows that meet a condition over their table's name; `None` where there are none.
async fn share(
    source: &mut dyn Source,
    scan: &Scan,
    name: &TableName,
    condition: &str,
) -> Result<Option<f64>, Failure> {
    let dialect = source.dialect();
    let (relation, count) = (dialect.relation(&scan.from), dialect.count());
    let alias = dialect.quote(&name.name);
    let columns = scan.columns.iter().filter_map(|column| match column {
        ScanColumn::Column { name, .. } => Some(dialect.quote(name)),
        _ => None,
    });
    let columns = match joined(columns, ", ") {
        none if none.is_empty() => "*".to_owned(),
        columns => columns,
    };
    let rows = format!("(SELECT {columns} FROM {relation} LIMIT {ROWS}) AS {alias}");
    let all = format!("SELECT {count} FROM {rows}");
    let met = format!("{all} WHERE {condition}");
    let all = number(source, &all, scan).await?;
    let met = number(source, &met, scan).await?;
    Ok((all > 0).then(|| float(met) / float(all)))
}

/// The number that a query answers.
async fn number(source: &mut dyn Source, sql: &str, scan: &Scan) -> Result<u64, Failure> {
    let found = source.numbers(sql, scan).await?;
    let first = found.first().and_then(|row| row.first());
    Ok(first.copied().unwrap_or(0))
}

/// Types whose values have bytes that every database counts.
fn is_counted(column: &Column) -> bool {
    let is_measured = matches!(
        column.data_type.family(),
        TypeFamily::Binary | TypeFamily::Document
    );
    !column.invisible && (is_measured || is_told_apart(column))
}

/// Types whose values every database tells apart.
fn is_told_apart(column: &Column) -> bool {
    let is_known = matches!(
        column.data_type.family(),
        TypeFamily::Number
            | TypeFamily::Text
            | TypeFamily::Boolean
            | TypeFamily::Time
            | TypeFamily::Any
    );
    is_known && column.data_type != DataType::Printed
}

fn question(source: &dyn Source, dbms: Dbms, scan: &Scan, columns: &[&Column]) -> String {
    let dialect = source.dialect();
    let count = dialect.count();
    let figures = columns.iter().map(|column| {
        let name = dialect.quote(&column.name);
        let bytes = match dbms {
            Dbms::Postgres if column.data_type.family() == TypeFamily::Binary => {
                format!("octet_length({name})")
            }
            Dbms::Postgres => format!("octet_length(CAST({name} AS text))"),
            Dbms::Sqlite => format!("length(CAST({name} AS BLOB))"),
            Dbms::Mysql | Dbms::Mariadb => format!("length({name})"),
        };
        let [chars, digits, unescaped, day_first, offsets] = match column.data_type.family() {
            TypeFamily::Text => text_figures(&name, dbms),
            _ => std::array::from_fn(|_| "0".to_owned()),
        };
        // The greatest of NULL and a number is not the same everywhere: nothing is 0.
        let longest = match dbms {
            Dbms::Postgres => format!("CAST(coalesce(max({bytes}), 0) AS bigint)"),
            _ => format!("coalesce(max({bytes}), 0)"),
        };
        let mixed = match dbms {
            Dbms::Sqlite => mixed(&name, &column.data_type),
            _ => "0".to_owned(),
        };
        // 0: the values of the others are not told apart.
        let distinct = if is_told_apart(column) {
            format!("count(DISTINCT {name})")
        } else {
            "0".to_owned()
        };
        format!(
            "count({name}), {distinct}, coalesce(sum({bytes}), 0), {chars}, {longest}, {digits}, \
             {unescaped}, {mixed}, {day_first}, {offsets}"
        )
    });
    let figures = joined(figures, ", ");
    let names = joined(
        columns.iter().map(|column| dialect.quote(&column.name)),
        ", ",
    );
    format!(
        "SELECT {count}, {figures} FROM (SELECT {names} FROM {} LIMIT {ROWS}) AS q",
        dialect.relation(&scan.from)
    )
}

/// The figures that only texts have, in the order of [`ColumnSample`]: characters, digits alone, unescaped, the day first,
/// and offsets.
fn text_figures(name: &str, dbms: Dbms) -> [String; 5] {
    let text = match dbms {
        Dbms::Postgres => format!("CAST({name} AS text)"),
        _ => name.to_owned(),
    };
    let (chars, unescaped, end) = match dbms {
        Dbms::Postgres => (
            format!("char_length({text})"),
            format!(r#"{text} COLLATE "C" !~ '[A-Z_#%\x01-\x1f]'"#),
            format!("right({text}, 6)"),
        ),
        Dbms::Sqlite => (
            format!("length(CAST({name} AS TEXT))"),
            format!("{name} NOT GLOB '*[A-Z_#%' || char(1) || '-' || char(31) || ']*'"),
            format!("substr({text}, -6)"),
        ),
        Dbms::Mysql | Dbms::Mariadb => (
            format!("char_length({text})"),
            format!(
                "CAST({name} AS BINARY) = CAST(lower({name}) AS BINARY) AND {name} NOT REGEXP '[_#%[:cntrl:]]'"
            ),
            format!("right({text}, 6)"),
        ),
    };
    // Whether a text begins as a regular expression says. SQLite has none.
    let begins = |regex: &str, in_sqlite: &str| match dbms {
        Dbms::Postgres => format!("{text} COLLATE \"C\" ~ '^{regex}'"),
        Dbms::Sqlite => format!("{name} {in_sqlite}"),
        Dbms::Mysql | Dbms::Mariadb => format!("{name} REGEXP '^{regex}'"),
    };
    let day = "[0-3][0-9][-/.][0-3][0-9][-/.][12][0-9][0-9][0-9]";
    let date = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]";
    let time = "[T ][0-9][0-9]:[0-9][0-9]";
    let zone = "[-+][01][0-9]:[0134][05]";
    let digits = begins("[0-9]+$", &format!("<> '' AND {name} NOT GLOB '*[^0-9]*'"));
    let day_first = begins(day, &format!("GLOB '{day}*'"));
    let is_utc = begins(&format!("{date}.*Z$"), &format!("GLOB '{date}*Z'"));
    let is_zoned = begins(
        &format!("{date}{time}.*{zone}$"),
        &format!("GLOB '{date}{time}*{zone}'"),
    );
    let count =
        |condition: &str| format!("coalesce(sum(CASE WHEN {condition} THEN 1 ELSE 0 END), 0)");
    [
        format!("coalesce(sum({chars}), 0)"),
        count(&digits),
        count(&unescaped),
        count(&day_first),
        format!("count(DISTINCT CASE WHEN {is_utc} THEN '+00:00' WHEN {is_zoned} THEN {end} END)"),
    ]
}

/// Counts what is mixed in a column of SQLite: see [`ColumnSample::mixed`].
fn mixed(name: &str, data_type: &DataType) -> String {
    let fitting = match data_type.family() {
        TypeFamily::Number => format!("typeof({name}) IN ('integer', 'real')"),
        TypeFamily::Boolean => format!("{name} IN (0, 1)"),
        TypeFamily::Binary => format!("typeof({name}) = 'blob'"),
        TypeFamily::Time => is_time(name, data_type),
        _ => {
            let fewer = format!(
                "min(sum(typeof({name}) = 'text'), sum(typeof({name}) NOT IN ('text', 'null')))"
            );
            // No key has bytes as they are, but for those of a UUID.
            return match data_type {
                DataType::Text { .. } | DataType::Dynamic => {
                    format!("coalesce(max({fewer}, sum(typeof({name}) = 'blob')), 0)")
                }
                _ => format!("coalesce({fewer}, 0)"),
            };
        }
    };
    let others = format!("count({name}) - coalesce(sum({fitting}), 0)");
    if data_type.family() != TypeFamily::Time {
        return others;
    }
    // Times of one form differ in their digits alone.
    let form = ('1'..='9').fold(name.to_owned(), |form, digit| {
        format!("replace({form}, '{digit}', '0')")
    });
    format!("{others} + max(count(DISTINCT {form}), 1) - 1")
}

/// Whether a value of SQLite is a text that is read as a time of its column's type, and that the calendar has.
fn is_time(name: &str, data_type: &DataType) -> String {
    let (format, length) = match data_type {
        DataType::Date => ("%Y-%m-%d", 10),
        DataType::Time { .. } => ("%H:%M:%S", 8),
        _ => ("%Y-%m-%d %H:%M:%S", 19),
    };
    let (ends, short) = match data_type {
        // Items have no zeros beyond the declared digits, and `.12Z` sorts behind `.125Z`.
        DataType::Timestamp { digits, zone: true } => {
            let beyond = "[0-9]".repeat(usize::from(*digits) + 1);
            (
                "'', 'Z', '+00', '+00:00'",
                format!(" AND {name} NOT GLOB '*.{beyond}*'"),
            )
        }
        _ => ("''", String::new()),
    };
    let head = format!("substr({name}, 1, {length})");
    let rest = format!("substr({name}, {length} + 1)");
    // SQLite also takes 24:00:00 and the year 0.
    let (hour, may_have_fraction) = match data_type {
        DataType::Date => ("''".to_owned(), 0),
        DataType::Time { .. } => (format!("substr({head}, 1, 2)"), 1),
        _ => (format!("substr({head}, 12, 2)"), 1),
    };
    format!(
        "typeof({name}) = 'text' AND strftime('{format}', {head}) GLOB replace({head}, 'T', ' ') || '*' \
         AND {hour} <> '24' AND {head} NOT GLOB '0000*' \
         AND ({rest} IN ({ends}) OR {may_have_fraction} AND {rest} GLOB '.[0-9]*' \
         AND {rest} NOT GLOB '.*.*' AND ltrim({rest}, '.0123456789') IN ({ends})){short}"
    )
}
