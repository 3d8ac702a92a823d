//! A small schema for this room's tests.

use super::{Catalog, Column, DataType, Dbms, ForeignKey, Index, Key, Table, TableKind, TableName};

fn column(name: &str, declared: &str, nullable: bool) -> Column {
    Column {
        nullable,
        ..Column::new(name.to_owned(), declared.to_owned(), DataType::Printed)
    }
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn name(schema: &str, name: &str) -> TableName {
    TableName {
        schema: schema.to_owned(),
        name: name.to_owned(),
    }
}

fn table(schema: &str, table: &str, columns: Vec<Column>, primary_key: &[&str]) -> Table {
    Table {
        columns,
        primary_key: names(primary_key),
        ..Table::new(name(schema, table), TableKind::Table)
    }
}

fn foreign_key(constraint: &str, columns: &[&str], to: TableName, there: &[&str]) -> ForeignKey {
    ForeignKey {
        name: constraint.to_owned(),
        columns: names(columns),
        references: to,
        referenced_columns: names(there),
    }
}

/// A shop: users with a profile each, orders with lines, an odd name, a view, a forbidden table.
pub(crate) fn shop() -> Catalog {
    let mut details = table(
        "public",
        "Order Details",
        vec![
            column("Order ID", "bigint", false),
            column("no", "smallint", false),
            column("price", "numeric(10,2)", false),
            column("total", "numeric(12,2)", true),
        ],
        &["Order ID", "no"],
    );
    if let Some(total) = details.columns.last_mut() {
        total.generated = Some("price * quantity".to_owned());
    }
    details.foreign_keys = vec![foreign_key(
        "details_order_fkey",
        &["Order ID"],
        name("public", "orders"),
        &["id"],
    )];
    let mut orders = table(
        "public",
        "orders",
        vec![
            column("id", "bigint", false),
            column("user_id", "bigint", true),
            column("placed_at", "timestamp with time zone", false),
        ],
        &["id"],
    );
    if let Some(placed_at) = orders.columns.last_mut() {
        placed_at.default = Some("now()".to_owned());
    }
    orders.foreign_keys = vec![foreign_key(
        "orders_user_fkey",
        &["user_id"],
        name("public", "users"),
        &["id"],
    )];
    orders.indexes = vec![Index {
        name: "orders_day".to_owned(),
        columns: names(&["date(placed_at)"]),
        unique: false,
    }];
    orders.estimated_rows = Some(1_234_567);
    orders.estimated_bytes = Some(98_304_000);
    let mut profiles = table(
        "public",
        "profiles",
        vec![
            column("user_id", "bigint", false),
            column("소개", "text", true),
        ],
        &["user_id"],
    );
    profiles.foreign_keys = vec![foreign_key(
        "profiles_user_fkey",
        &["user_id"],
        name("public", "users"),
        &["id"],
    )];
    let mut users = table(
        "public",
        "users",
        vec![
            column("id", "bigint", false),
            column("email", "varchar(255)", false),
        ],
        &["id"],
    );
    users.unique_keys = vec![Key {
        name: "users_email_key".to_owned(),
        columns: names(&["email"]),
    }];
    users.comment = Some("everyone who\nsigned up".to_owned());
    users.estimated_rows = Some(1);
    users.estimated_bytes = Some(8192);
    if let Some(email) = users.columns.last_mut() {
        email.comment = Some("lowercase".to_owned());
    }
    let mut secrets = table("vault", "secrets", Vec::new(), &[]);
    secrets.readable = false;
    let mut view = table("public", "recent", vec![column("id", "bigint", true)], &[]);
    view.kind = TableKind::View;
    Catalog {
        dbms: Dbms::Postgres,
        version: "17.2".to_owned(),
        database: "shop".to_owned(),
        search_path: names(&["public"]),
        tables: vec![details, orders, profiles, view, users, secrets],
        notices: names(&["schema `audit`: no permission"]),
    }
}
