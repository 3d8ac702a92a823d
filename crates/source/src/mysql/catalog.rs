//! Reads the schema from `information_schema`, with a handful of queries for any number of tables.
//!
//! MariaDB stores JSON as a LONGTEXT with a check, and shows that check only to users who may do more than SELECT. So
//! each table with a LONGTEXT is asked for its definition.

use std::collections::{BTreeSet, HashMap};

use dynafold_format::{float, rounded};
use dynafold_relational::catalog::{
    AUTO_INCREMENT, Catalog, Check, Column, DataType, Dbms, Enforcement, ForeignKey, Index,
    ReferentialAction, Table, TableKind, TableName, Trigger, UniqueKey,
};
use dynafold_sql::definition;
use sqlx::mysql::{MySqlConnection, MySqlRow};
use sqlx::{Column as _, Statement as _, TypeInfo as _};

use super::super::Dialect as _;
use super::Server;
use super::decode::data_type;
use super::dialect::MysqlDialect;
use super::error::is_refusal;
use super::statement::{grouped, optional, prepare, rows, text};
use crate::Result;
use crate::dialect::alone;

pub(super) async fn read(
    connection: &mut MySqlConnection,
    server: &Server,
) -> sqlx::Result<Catalog> {
    let expression = match server.dbms {
        Dbms::Mariadb => "NULL",
        _ => "EXPRESSION",
    };
    let indexes = include_str!("sql/indexes.sql").replace("{expression}", expression);
    let tables = rows(connection, include_str!("sql/tables.sql")).await?;
    let columns = rows(connection, include_str!("sql/columns.sql")).await?;
    let indexes = rows(connection, indexes).await?;
    let foreign_keys = rows(connection, include_str!("sql/foreign_keys.sql")).await?;
    let triggers = rows(connection, include_str!("sql/triggers.sql")).await?;
    let trigger_grants = rows(connection, include_str!("sql/trigger_grants.sql")).await?;
    let partly_granted = rows(connection, include_str!("sql/partly_granted.sql")).await?;
    let (checks, histograms) = match server.dbms {
        Dbms::Mariadb => (include_str!("sql/checks_mariadb.sql"), None),
        _ => (
            include_str!("sql/checks_mysql.sql"),
            Some(include_str!("sql/histograms.sql")),
        ),
    };
    let checks = rows_if_any(connection, checks).await?;
    let histograms = match histograms {
        Some(histograms) => rows_if_any(connection, histograms).await?,
        None => Vec::new(),
    };

    let mut catalog = Catalog {
        dbms: server.dbms,
        version: server.version.clone(),
        database: server.database.clone().unwrap_or_default(),
        search_path: server.database.iter().cloned().collect(),
        own_functions: Vec::new(),
        own_operators: false,
        tables: tables.iter().map(table).collect::<Result<_, _>>()?,
        notices: Vec::new(),
    };
    catalog.tables.sort_by(|a, b| a.name.cmp(&b.name));
    add_columns(&mut catalog, &columns)?;
    find_hidden_columns(connection, &mut catalog, server).await?;
    add_indexes(&mut catalog, &indexes)?;
    add_foreign_keys(&mut catalog, &foreign_keys)?;
    leave_out_hidden_keys(&mut catalog.tables);
    add_checks(&mut catalog, &checks)?;
    add_histograms(&mut catalog, &histograms)?;
    add_triggers(&mut catalog, server, &trigger_grants, &triggers)?;
    for row in &partly_granted {
        if text(row, 1)?.replace('\'', "") != server.user {
            continue;
        }
        catalog.notices.push(format!(
            "in `{}`, this user has access only to some tables; the server hides the others",
            text(row, 0)?
        ));
    }
    let home = server.database.as_ref();
    let is_home = |table: &Table| home.is_none_or(|home| table.name.schema == *home);
    if !catalog.tables.iter().any(is_home) {
        // MySQL has these views since 8.0.19.
        let roles = rows(connection, include_str!("sql/roles.sql")).await;
        for row in &roles.unwrap_or_default() {
            catalog.notices.push(format!(
                "the role `{}` was granted to this user but is not active: an administrator has to run SET DEFAULT ROLE",
                text(row, 0)?
            ));
        }
    }
    if server.dbms == Dbms::Mariadb {
        find_documents(connection, &mut catalog).await?;
    }
    Ok(catalog)
}

/// Runs a query that some versions or users cannot run: then there are no rows, and nothing is known.
async fn rows_if_any(connection: &mut MySqlConnection, sql: &str) -> sqlx::Result<Vec<MySqlRow>> {
    match rows(connection, sql).await {
        Err(error) if error.as_database_error().is_some() => Ok(Vec::new()),
        other => other,
    }
}

fn table(row: &MySqlRow) -> sqlx::Result<Table> {
    let comment = text(row, 6)?;
    let kind = if text(row, 2)? == "VIEW" {
        TableKind::View
    } else if !enforces_keys(&text(row, 7)?) {
        TableKind::Foreign
    } else if text(row, 3)?.contains("partitioned") {
        TableKind::Partitioned
    } else {
        TableKind::Table
    };
    Ok(Table {
        // A view's comment says `VIEW`, or what is wrong with it.
        comment: (!comment.is_empty() && comment != "VIEW").then_some(comment),
        estimated_rows: optional(row, 4)?.and_then(|rows| rows.parse().ok()),
        estimated_bytes: optional(row, 5)?.and_then(|bytes| bytes.parse().ok()),
        live: optional(row, 7)?.is_some_and(|engine| !has_snapshots(&engine)),
        ..Table::new(table_name(row, 0)?, kind)
    })
}

/// Whether a storage engine keeps rows of its own and enforces keys on them. `MERGE`, `FEDERATED`, `CONNECT`
/// and `SPIDER` read the rows of other tables, and nothing enforces the keys that they declare.
fn enforces_keys(engine: &str) -> bool {
    let engine = engine.to_ascii_lowercase();
    matches!(
        engine.as_str(),
        "innodb" | "myisam" | "aria" | "memory" | "ndb" | "ndbcluster" | "rocksdb" | "tokudb"
    )
}

/// Whether all reads of a transaction see one state of this storage engine's tables.
fn has_snapshots(engine: &str) -> bool {
    let engine = engine.to_ascii_lowercase();
    matches!(engine.as_str(), "innodb" | "rocksdb" | "tokudb")
}

fn add_columns(catalog: &mut Catalog, rows: &[MySqlRow]) -> sqlx::Result<()> {
    for rows in grouped(rows, 2)? {
        let dbms = catalog.dbms;
        let Some((_, table)) = table_at(&mut catalog.tables, &rows)? else {
            continue;
        };
        for row in rows {
            let column = column(row, dbms)?;
            if text(row, 9)?.split(',').any(|held| held == "select") {
                table.columns.push(column);
            } else {
                let hidden = table.hidden_columns.get_or_insert_default();
                hidden.push(column.name);
            }
        }
    }
    for table in &mut catalog.tables {
        table.readable = !table.columns.is_empty();
        if table.readable {
            continue;
        }
        table.hidden_columns = None;
        if let (TableKind::View, Some(fault)) = (table.kind, table.comment.take()) {
            catalog.notices.push(fault);
        }
    }
    Ok(())
}

/// Finds the tables of which the user may read only some columns, and says so. The server does not list the columns on
/// which the user has no privilege at all, and refuses `*` for them, MySQL not for invisible ones.
async fn find_hidden_columns(
    connection: &mut MySqlConnection,
    catalog: &mut Catalog,
    server: &Server,
) -> sqlx::Result<()> {
    // Those of the active roles are among them. Some SQL modes write other quotes.
    let grants = rows_if_any(connection, "SHOW GRANTS").await?;
    let quoted_alike = |row: &MySqlRow| Ok::<_, sqlx::Error>(text(row, 0)?.replace('"', "`"));
    let grants: sqlx::Result<Vec<String>> = grants.iter().map(quoted_alike).collect();
    let mut grants = grants?;
    grants.retain(|grant| grant.contains("SELECT ("));
    for table in catalog.tables.iter_mut().filter(|table| table.readable) {
        let name = MysqlDialect.table(&table.name);
        let of_table = format!(" ON {name} TO ");
        if grants.iter().any(|grant| grant.contains(&of_table)) {
            let prepared = prepare(connection, &format!("SELECT * FROM {name}")).await;
            match prepared {
                Err(error) if is_refusal(&error) => {
                    table.hidden_columns.get_or_insert_default();
                }
                // A view may have other faults, of which a read tells.
                Err(error) if error.as_database_error().is_none() => return Err(error),
                // Who may see the definition is told all columns.
                Ok(_) if server.dbms == Dbms::Mysql && table.is_stored() => {
                    let sql = format!("SHOW CREATE TABLE {name}");
                    table.may_hide_invisible = rows_if_any(connection, &sql).await?.is_empty();
                }
                _ => {}
            }
        }
        let has = table
            .hidden_in_words()
            .map(|hidden| format!("has {hidden}"));
        let may_have = "may have invisible columns that this user may not read";
        let may_have = table.may_hide_invisible.then(|| may_have.to_owned());
        for has in has.into_iter().chain(may_have) {
            let grant = server.grant_help(&table.name.to_string());
            let notice = format!("{} {has}; {grant}", table.name);
            catalog.notices.push(notice);
        }
    }
    Ok(())
}

/// Leaves out the keys and foreign keys of which a column is hidden. `MySQL` lists hidden columns of indexes, but not of
/// foreign keys: one that leads to no key of its parent is taken for a part of another.
fn leave_out_hidden_keys(tables: &mut [Table]) {
    let keys_of = |table: &Table| -> Vec<Vec<String>> {
        let mut keys = vec![table.primary_key.clone()];
        keys.extend(table.unique_keys.iter().map(|key| key.columns.clone()));
        keys
    };
    let keys: HashMap<TableName, Vec<Vec<String>>> = tables
        .iter()
        .map(|table| (table.name.clone(), keys_of(table)))
        .collect();
    let is_shown = |table: &Table, columns: &[String]| {
        let mut columns = columns.iter();
        columns.all(|name| table.column(name).is_some())
    };
    let hiding = |table: &&mut Table| table.hidden_columns.is_some() || table.may_hide_invisible;
    for table in tables.iter_mut().filter(hiding) {
        if !is_shown(table, &table.primary_key) {
            table.primary_key.clear();
        }
        let mut foreign_keys = std::mem::take(&mut table.foreign_keys);
        foreign_keys.retain(|key| {
            let of_parent = keys.get(&key.references);
            is_shown(table, &key.columns)
                && of_parent.is_some_and(|keys| keys.contains(&key.referenced_columns))
        });
        table.foreign_keys = foreign_keys;
    }
}

fn column(row: &MySqlRow, dbms: Dbms) -> sqlx::Result<Column> {
    let declared = text(row, 3)?;
    let data_type = data_type(&declared);
    let extra = text(row, 6)?;
    let mut default = optional(row, 5)?;
    if dbms == Dbms::Mariadb {
        // MariaDB writes the default as an expression, and NULL for a column without a default.
        default = default.filter(|default| default != "NULL");
    } else if !extra.contains("DEFAULT_GENERATED") && !has_unquoted_default(&data_type) {
        // MySQL writes a literal without its quotes.
        default = default.map(|default| format!("'{}'", default.replace('\'', "''")));
    }
    if extra.to_ascii_uppercase().contains(AUTO_INCREMENT) {
        default = Some(AUTO_INCREMENT.to_owned());
    }
    // Adding a virtual column with NOT NULL does not check the values.
    let is_virtual = extra.contains("VIRTUAL");
    let collation = optional(row, 11)?;
    let is_enum = matches!(data_type, DataType::Enum { .. } | DataType::Set { .. });
    Ok(Column {
        nullable: is_virtual || text(row, 4)? == "YES",
        insensitive: !is_enum
            && collation
                .as_deref()
                .is_some_and(|collation| !tells_all_texts_apart(collation, &declared)),
        default,
        generated: optional(row, 7)?.filter(|expression| !expression.is_empty()),
        invisible: extra.contains("INVISIBLE"),
        comment: optional(row, 8)?.filter(|comment| !comment.is_empty()),
        ambiguous_charset: optional(row, 10)?.filter(|charset| !converts_one_to_one(charset)),
        collation: collation.filter(|collation| !sorts_as_utf8(collation)),
        ..Column::new(text(row, 2)?, declared, data_type)
    })
}

/// Whether different texts in this character set stay different in UTF-8. `cp932` has two codes for `≒`. Codes that are no
/// characters become `?` or nothing: bytes above 127 in `ascii`, half a surrogate pair in `ucs2`. Other character sets are
/// unknown here.
fn converts_one_to_one(charset: &str) -> bool {
    matches!(
        charset,
        "utf8" | "utf8mb3" | "utf8mb4" | "latin1" | "binary"
    )
}

/// Whether a collation sorts text by its bytes in UTF-8. Most of them compare as if the shorter text ended in spaces; that
/// matters only before control characters.
fn sorts_as_utf8(collation: &str) -> bool {
    let (charset, rest) = collation.split_once('_').unwrap_or((collation, "bin"));
    let is_in_order = matches!(
        charset,
        "utf8"
            | "utf8mb3"
            | "utf8mb4"
            | "ascii"
            | "ucs2"
            | "utf16"
            | "utf16le"
            | "utf32"
            | "binary"
    );
    rest.ends_with("bin") && is_in_order
}

/// Whether different texts of this type are never equal in a collation. Most binary collations ignore blanks at the end;
/// `CHAR` has none there.
fn tells_all_texts_apart(collation: &str, declared: &str) -> bool {
    collation == "binary"
        || collation.ends_with("_bin")
            && (declared.starts_with("char(")
                || collation.ends_with("_0900_bin")
                || collation.ends_with("_nopad_bin"))
}

/// Whether a default of this type is written without quotes.
fn has_unquoted_default(data_type: &DataType) -> bool {
    use DataType::{Binary, Boolean, Decimal, Float, Integer};
    matches!(
        data_type,
        Integer { .. } | Decimal { .. } | Float { .. } | Boolean | Binary { .. }
    )
}

/// Finds the LONGTEXT columns that MariaDB checks to be JSON.
async fn find_documents(
    connection: &mut MySqlConnection,
    catalog: &mut Catalog,
) -> sqlx::Result<()> {
    let is_longtext = |column: &Column| column.declared == "longtext";
    for table in &mut catalog.tables {
        if table.kind == TableKind::View || !table.columns.iter().any(is_longtext) {
            continue;
        }
        let sql = format!("SHOW CREATE TABLE {}", MysqlDialect.table(&table.name));
        let definition = match rows(connection, sql).await {
            Ok(rows) => rows.first().map(|row| text(row, 1)).transpose()?,
            // A user who may read only some of the columns may not see the definition.
            Err(error) if error.as_database_error().is_some() => {
                catalog.notices.push(format!(
                    "{}: this user may not see which LONGTEXT columns are JSON; they are read as text",
                    table.name
                ));
                continue;
            }
            Err(error) => return Err(error),
        };
        let definition = definition.unwrap_or_default();
        for column in table
            .columns
            .iter_mut()
            .filter(|column| is_longtext(column))
        {
            let check = format!("json_valid({})", MysqlDialect.quote(&column.name));
            if definition.contains(&check) {
                column.data_type = DataType::Json;
            }
        }
    }
    Ok(())
}

/// Adds the indexes, and the numbers of distinct values that they count. An index with an expression is never a unique key: the
/// expression stands in parentheses, so no column has its name.
fn add_indexes(catalog: &mut Catalog, rows: &[MySqlRow]) -> sqlx::Result<()> {
    let part = |row: &&MySqlRow| match optional(row, 4)? {
        Some(column) => Ok(column),
        None => Ok(format!("({})", text(row, 5)?)),
    };
    let counted = |row: &MySqlRow| {
        let values = optional(row, 6)?;
        Ok::<_, sqlx::Error>(values.and_then(|values| values.parse::<u64>().ok()))
    };
    // Tables with far more rows now than values in a unique index: the values were counted before most rows were inserted.
    let mut outdated = Vec::new();
    for parts in grouped(rows, 3)? {
        let Some((first, table)) = table_at(&mut catalog.tables, &parts)? else {
            continue;
        };
        if text(first, 3)? == "0"
            && let Some(last) = parts.last()
            && let (Some(values), Some(rows)) = (counted(last)?, table.estimated_rows)
            && values.saturating_mul(2) < rows
        {
            outdated.push(table.name.clone());
        }
        let index = Index {
            name: text(first, 2)?,
            columns: parts.iter().map(part).collect::<sqlx::Result<_>>()?,
            unique: table.kind != TableKind::Foreign && text(first, 3)? == "0",
            condition: None,
        };
        // The distinct values of the first column. Of a prefix, they would be those of the prefix alone.
        let distinct = counted(first)?;
        let is_whole = optional(first, 7)?.is_none();
        let name = index.columns.first().filter(|_| is_whole);
        if let Some(column) = name.and_then(|name| table.column_mut(name)) {
            column.distinct = distinct.filter(|values| *values > 0);
        }
        let mut has_prefix = false;
        for row in &parts {
            has_prefix |= optional(row, 7)?.is_some();
        }
        if index.unique && index.name == "PRIMARY" {
            table.primary_key = index.columns;
            table.coarse_primary_key = has_prefix;
            continue;
        }
        let is_plain = |part: &String| table.column(part).is_some();
        let key = index.columns.iter().all(is_plain).then(|| UniqueKey {
            name: index.name.clone(),
            columns: index.columns.clone(),
            coarse: has_prefix,
            ..UniqueKey::default()
        });
        table.add_index(index, key);
    }
    let mut tables = catalog.tables.iter_mut();
    while let Some(table) = tables.find(|table| outdated.contains(&table.name)) {
        for column in &mut table.columns {
            column.distinct = None;
        }
    }
    Ok(())
}

/// A text without backslashes; two become one.
fn without_backslashes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        let letter = match letter {
            '\\' => letters.next(),
            other => Some(other),
        };
        plain.extend(letter);
    }
    plain
}

/// Adds the numbers of values and NULLs in columns that have a histogram.
fn add_histograms(catalog: &mut Catalog, rows: &[MySqlRow]) -> sqlx::Result<()> {
    for row in rows {
        let each = optional(row, 4)?;
        let each = each.and_then(|each| serde_json::from_str::<Vec<u64>>(&each).ok());
        let buckets = text(row, 3)?.parse().ok();
        let distinct = each.map_or(buckets, |each| Some(each.iter().sum()));
        let nulls: Option<f64> = optional(row, 5)?.and_then(|share| share.parse().ok());
        let name = text(row, 2)?;
        if let Some((_, table)) = table_at(&mut catalog.tables, &[row])? {
            let rows = table.estimated_rows;
            let Some(column) = table.column_mut(&name) else {
                continue;
            };
            column.distinct = distinct.filter(|values| *values > 0);
            let nulls = nulls.zip(rows);
            column.nulls = nulls.map(|(share, rows)| rounded(share * float(rows)));
        }
    }
    Ok(())
}

fn add_foreign_keys(catalog: &mut Catalog, rows: &[MySqlRow]) -> sqlx::Result<()> {
    let names = catalog.tables.iter().map(|table| table.name.clone());
    let names: BTreeSet<TableName> = names.collect();
    for parts in grouped(rows, 3)? {
        let Some((first, table)) = table_at(&mut catalog.tables, &parts)? else {
            continue;
        };
        let references = listed_name(&names, table_name(first, 4)?);
        if !names.contains(&references) {
            catalog.notices.push(format!(
                "{} refers to {references}, which this user cannot see",
                table.name
            ));
        }
        let columns =
            |at| -> sqlx::Result<Vec<String>> { parts.iter().map(|row| text(row, at)).collect() };
        table.foreign_keys.push(ForeignKey {
            name: text(first, 2)?,
            columns: columns(3)?,
            references,
            referenced_columns: columns(6)?,
            on_delete: ReferentialAction::read(&text(first, 7)?),
            on_update: Some(ReferentialAction::read(&text(first, 8)?)),
            // MySQL has no foreign key that is declared as not enforced; a session may turn all of them off.
            enforcement: Enforcement::Enforced,
        });
    }
    Ok(())
}

/// Adds the checks, and the values that they list. `MySQL` shows the checks of every visible table. `MariaDB` hides them
/// from some users who may only read; then it is unknown whether there are any.
fn add_checks(catalog: &mut Catalog, rows: &[MySqlRow]) -> sqlx::Result<()> {
    let dbms = catalog.dbms;
    if dbms == Dbms::Mysql {
        let stored = catalog.tables.iter_mut().filter(|table| table.is_stored());
        stored.for_each(|table| table.checks = Some(Vec::new()));
    }
    for row in rows {
        let Some((row, table)) = table_at(&mut catalog.tables, &[row])? else {
            continue;
        };
        let checks = table.checks.get_or_insert_default();
        let (Some(name), Some(mut expression)) = (optional(row, 2)?, optional(row, 3)?) else {
            continue;
        };
        if dbms == Dbms::Mysql {
            // MySQL writes it as in a text literal.
            expression = without_backslashes(&expression);
        }
        let enforcement = match text(row, 4)?.as_str() {
            "NO" => Enforcement::NotEnforced,
            _ => Enforcement::Enforced,
        };
        let listed = definition::allowed_values(&expression, dbms);
        checks.push(Check {
            name,
            expression,
            enforcement,
        });
        if let Some((name, values)) = listed.filter(|_| enforcement == Enforcement::Enforced)
            && let Some(column) = table.column_mut(&name)
        {
            column.list(values);
        }
    }
    Ok(())
}

/// Adds the triggers. A user without the privilege TRIGGER sees none; then it is unknown whether there are any.
fn add_triggers(
    catalog: &mut Catalog,
    server: &Server,
    grants: &[MySqlRow],
    rows: &[MySqlRow],
) -> sqlx::Result<()> {
    for grant in grants {
        if text(grant, 0)?.replace('\'', "") != server.user {
            continue;
        }
        let schema = optional(grant, 1)?;
        let is_granted = |table: &&mut Table| {
            // A grant on a pattern counts only for the database that it spells out.
            let name = schema.as_ref().map(|name| name.replace("\\_", "_"));
            name.is_none_or(|name| name == table.name.schema) && table.is_stored()
        };
        for table in catalog.tables.iter_mut().filter(is_granted) {
            table.triggers.get_or_insert_default();
        }
    }
    for row in rows {
        if let Some((row, table)) = table_at(&mut catalog.tables, &[row])? {
            table.triggers.get_or_insert_default().push(Trigger {
                name: text(row, 2)?,
                event: text(row, 3)?,
            });
        }
    }
    Ok(())
}

/// The name as it is in the list of tables: a server that ignores case stores names in foreign keys in lower case.
fn listed_name(names: &BTreeSet<TableName>, name: TableName) -> TableName {
    let same = |other: &&TableName| {
        other.schema.eq_ignore_ascii_case(&name.schema)
            && other.name.eq_ignore_ascii_case(&name.name)
    };
    if names.contains(&name) {
        return name;
    }
    names.iter().find(same).cloned().unwrap_or(name)
}

/// The sequences of MariaDB.
pub(super) async fn sequences(connection: &mut MySqlConnection) -> sqlx::Result<Vec<TableName>> {
    let found = rows(connection, include_str!("sql/sequences.sql")).await?;
    found.iter().map(|row| table_name(row, 0)).collect()
}

pub(super) fn table_name(row: &MySqlRow, index: usize) -> sqlx::Result<TableName> {
    Ok(TableName {
        schema: text(row, index)?,
        name: text(row, index + 1)?,
    })
}

/// The first of these rows, and the table that its first two columns name. `tables` is sorted by name.
fn table_at<'t, 'r>(
    tables: &'t mut [Table],
    rows: &[&'r MySqlRow],
) -> sqlx::Result<Option<(&'r MySqlRow, &'t mut Table)>> {
    let Some(&first) = rows.first() else {
        return Ok(None);
    };
    let name = table_name(first, 0)?;
    let place = tables.binary_search_by(|table| table.name.cmp(&name));
    let table = place.ok().and_then(|place| tables.get_mut(place));
    Ok(table.map(|table| (first, table)))
}

/// The columns of a query that a scan will read. Fails if two columns have one name.
///
/// The driver names the base column, if there is one, and the catalog describes it. For an expression the driver gives the
/// type without its fractional digits, so times get six. It calls text in a binary collation `binary`, so the server is asked.
/// It does not say whether a column is nullable, so every column counts as nullable.
pub(super) async fn describe(
    connection: &mut MySqlConnection,
    catalog: &Catalog,
    sql: &str,
) -> sqlx::Result<Vec<Column>> {
    let sql = alone(sql);
    prepare(connection, &format!("SELECT * FROM ({sql}\n) AS q")).await?;
    describe_answer(connection, catalog, sql).await
}

/// The columns of a query. The server prepares it, and takes only one statement.
pub(super) async fn describe_answer(
    connection: &mut MySqlConnection,
    catalog: &Catalog,
    sql: &str,
) -> sqlx::Result<Vec<Column>> {
    let sql = alone(sql);
    let statement = prepare(connection, sql).await?;
    let mut columns = Vec::new();
    for column in statement.columns() {
        let origin = column.origin();
        let base = origin.table_column().and_then(|origin| {
            let named = |table: &&Table| table.name.to_string() == *origin.table;
            catalog.tables.iter().find(named)?.column(&origin.name)
        });
        let declared = match base {
            Some(base) => base.declared.clone(),
            None => expression_type(column.type_info().name()).to_owned(),
        };
        let of_base = |base: &Column| base.data_type.clone();
        let data_type = base.map_or_else(|| data_type(&declared), of_base);
        columns.push(Column {
            ambiguous_charset: base.and_then(|base| base.ambiguous_charset.clone()),
            collation: base.and_then(|base| base.collation.clone()),
            ..Column::new(column.name().to_owned(), declared, data_type)
        });
    }
    find_text(connection, sql, &mut columns).await?;
    Ok(columns)
}

/// The driver's word for an expression's type, as `information_schema` would write it.
fn expression_type(name: &str) -> &str {
    match name {
        "BOOLEAN" => "tinyint(1)",
        "TIME" => "time(6)",
        "DATETIME" => "datetime(6)",
        "TIMESTAMP" => "timestamp(6)",
        "ENUM" | "NULL" => "varchar",
        "TINYTEXT" | "MEDIUMTEXT" | "LONGTEXT" => "text",
        "TINYBLOB" | "MEDIUMBLOB" | "LONGBLOB" | "BINARY" | "VARBINARY" => "blob",
        name => name,
    }
}

/// Asks for the character sets of the expressions that the driver calls binary.
async fn find_text(
    connection: &mut MySqlConnection,
    sql: &str,
    columns: &mut [Column],
) -> sqlx::Result<()> {
    let is_unsure = |column: &Column| column.declared.eq_ignore_ascii_case("blob");
    let charsets: Vec<String> = columns
        .iter()
        .filter(|column| is_unsure(column))
        .map(|column| format!("CHARSET(q.{})", MysqlDialect.quote(&column.name)))
        .collect();
    if charsets.is_empty() {
        return Ok(());
    }
    // The join yields one row and reads none.
    let sql = format!(
        "SELECT {} FROM (SELECT 1) AS one LEFT JOIN ({sql}\n) AS q ON FALSE",
        charsets.join(", ")
    );
    let rows = rows(connection, sql).await?;
    let unsure = columns.iter_mut().filter(|column| is_unsure(column));
    for (index, column) in unsure.enumerate() {
        let charset = rows.first().map(|row| text(row, index)).transpose()?;
        if charset.is_some_and(|charset| charset != "binary") {
            "text".clone_into(&mut column.declared);
            column.data_type = data_type("text");
        }
    }
    Ok(())
}
