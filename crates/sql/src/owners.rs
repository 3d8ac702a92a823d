//! Conditions whose columns go by other owners.

use dynafold_relational::catalog::Dbms;
use sqlparser::ast::{
    Expr, Ident, ObjectName, ObjectNamePart, SelectItem, SelectItemQualifiedWildcardKind, SetExpr,
    TableAlias, TableFactor, TableWithJoins, VisitMut, VisitorMut,
};
use std::ops::ControlFlow;

use super::text::expression;

/// A condition in which columns go by other owners. `owner`: of a column's owner, `None` where it has none, and its name,
/// the owner that it gets. In queries within it, columns of their own tables stay as they are, others are asked about where they have
/// an owner; tables without an alias get one there, lest they hide the new owners. Gives `None` where it cannot be read, where
/// what is called like such a table may be its row, and where an alias hides a new owner all the same.
pub fn qualified(
    condition: &str,
    dbms: Dbms,
    owner: &dyn Fn(Option<&str>, &str) -> Option<String>,
) -> Option<String> {
    let mut read = expression(condition, dbms)?;
    let mut renaming = Qualifying {
        owner,
        dbms,
        scopes: Vec::new(),
        is_unclear: false,
    };
    let _ = read.visit(&mut renaming);
    (!renaming.is_unclear).then(|| read.to_string())
}

struct Qualifying<'o> {
    owner: &'o dyn Fn(Option<&str>, &str) -> Option<String>,
    dbms: Dbms,
    /// The tables of the queries around a place, outermost first: what each was called, and its new alias.
    scopes: Vec<Vec<(String, Option<Ident>)>>,
    /// Whether a name may be a whole row of such a table, as PostgreSQL has it, or a column; or an alias hides a new owner.
    is_unclear: bool,
}

impl Qualifying<'_> {
    fn tables(body: &mut SetExpr, scope: &mut Vec<(String, Option<Ident>)>) {
        match body {
            SetExpr::Select(select) => {
                for from in &mut select.from {
                    Self::joined(from, scope);
                }
                for item in &mut select.projection {
                    if let SelectItem::QualifiedWildcard(
                        SelectItemQualifiedWildcardKind::ObjectName(ObjectName(parts)),
                        _,
                    ) = item
                        && let Some(ObjectNamePart::Identifier(name)) = parts.last()
                        && let Some(alias) = found(scope, &name.value).and_then(Option::as_ref)
                    {
                        *parts = vec![ObjectNamePart::Identifier(alias.clone())];
                    }
                }
            }
            SetExpr::SetOperation { left, right, .. } => {
                Self::tables(left, scope);
                Self::tables(right, scope);
            }
            _ => {}
        }
    }

    fn joined(from: &mut TableWithJoins, scope: &mut Vec<(String, Option<Ident>)>) {
        Self::table(&mut from.relation, scope);
        for join in &mut from.joins {
            Self::table(&mut join.relation, scope);
        }
    }

    fn table(factor: &mut TableFactor, scope: &mut Vec<(String, Option<Ident>)>) {
        match factor {
            TableFactor::NestedJoin {
                table_with_joins, ..
            } => Self::joined(table_with_joins, scope),
            TableFactor::Table {
                name, alias, args, ..
            } => match (alias.as_ref(), name.0.last()) {
                (Some(alias), Some(ObjectNamePart::Identifier(name)))
                    if !alias.name.value.eq_ignore_ascii_case(&name.value) =>
                {
                    scope.push((alias.name.value.clone(), None));
                }
                (_, Some(ObjectNamePart::Identifier(name))) if args.is_none() => {
                    let mut own = name.clone();
                    own.value = format!("inner_{}", own.value);
                    scope.push((name.value.clone(), Some(own.clone())));
                    *alias = Some(TableAlias {
                        explicit: false,
                        name: own,
                        columns: Vec::new(),
                        at: None,
                    });
                }
                _ => {}
            },
            TableFactor::Derived {
                alias: Some(alias), ..
            }
            | TableFactor::TableFunction {
                alias: Some(alias), ..
            }
            | TableFactor::Function {
                alias: Some(alias), ..
            }
            | TableFactor::UNNEST {
                alias: Some(alias), ..
            }
            | TableFactor::JsonTable {
                alias: Some(alias), ..
            } => scope.push((alias.name.value.clone(), None)),
            _ => {}
        }
    }
}

/// What became of a table that is called so.
fn found<'s>(scope: &'s [(String, Option<Ident>)], name: &str) -> Option<&'s Option<Ident>> {
    let is_it = |(called, _): &&(String, _)| called.eq_ignore_ascii_case(name);
    scope.iter().find(is_it).map(|(_, alias)| alias)
}

impl VisitorMut for Qualifying<'_> {
    type Break = ();
    fn pre_visit_query(&mut self, query: &mut sqlparser::ast::Query) -> ControlFlow<()> {
        let mut scope = Vec::new();
        Self::tables(&mut query.body, &mut scope);
        self.scopes.push(scope);
        ControlFlow::Continue(())
    }
    fn post_visit_query(&mut self, _: &mut sqlparser::ast::Query) -> ControlFlow<()> {
        self.scopes.pop();
        ControlFlow::Continue(())
    }
    fn post_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<()> {
        if let Expr::Identifier(name) = expression {
            let mut scopes = self.scopes.iter();
            self.is_unclear |= self.dbms == Dbms::Postgres
                && scopes.any(|scope| found(scope, &name.value).is_some_and(Option::is_some));
        }
        let (said, name, is_whole) = match expression {
            Expr::Identifier(name) if self.scopes.is_empty() => (None, name.clone(), true),
            Expr::CompoundIdentifier(parts) => match parts.as_slice() {
                [before @ .., owner, name] => {
                    (Some(owner.value.clone()), name.clone(), before.is_empty())
                }
                _ => return ControlFlow::Continue(()),
            },
            _ => return ControlFlow::Continue(()),
        };
        let mut scopes = self.scopes.iter().rev();
        let inner = said
            .as_ref()
            .and_then(|said| scopes.find_map(|scope| found(scope, said)));
        if let Some(alias) = inner {
            if let Some(alias) = alias {
                *expression = Expr::CompoundIdentifier(vec![alias.clone(), name]);
            }
        } else if is_whole && let Some(owner) = (self.owner)(said.as_deref(), &name.value) {
            let mut scopes = self.scopes.iter();
            self.is_unclear |=
                scopes.any(|scope| found(scope, &owner).is_some_and(Option::is_none));
            let written = crate::identifier(&owner, self.dbms);
            let quote = written.chars().next().filter(|_| written != owner);
            let owner = match quote {
                Some(quote) => Ident::with_quote(quote, owner),
                None => Ident::new(owner),
            };
            *expression = Expr::CompoundIdentifier(vec![owner, name]);
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_a_condition_get_other_owners() {
        let owner = |owner: Option<&str>, _: &str| {
            matches!(owner, Some("i") | None).then(|| "inventory".to_owned())
        };
        let condition = "NOT EXISTS (SELECT 1 FROM rental r WHERE r.x = i.x AND y IS NULL)";
        assert_eq!(
            qualified(condition, Dbms::Postgres, &owner).as_deref(),
            Some("NOT EXISTS (SELECT 1 FROM rental r WHERE r.x = inventory.x AND y IS NULL)")
        );
        assert_eq!(
            qualified("a IS NULL", Dbms::Postgres, &owner).as_deref(),
            Some("inventory.a IS NULL")
        );
        for (condition, said) in [
            (
                "i.d = (SELECT max(d) FROM inventory WHERE x = i.x)",
                "inventory.d = (SELECT max(d) FROM inventory inner_inventory WHERE x = inventory.x)",
            ),
            (
                "EXISTS (SELECT inventory.* FROM hr.inventory WHERE inventory.x = i.x AND hr.inventory.y = 1)",
                "EXISTS (SELECT inner_inventory.* FROM hr.inventory inner_inventory WHERE inner_inventory.x = inventory.x AND inner_inventory.y = 1)",
            ),
            (
                "EXISTS (SELECT 1 FROM a JOIN b i ON a.x = i.x WHERE i.y = 1)",
                "EXISTS (SELECT 1 FROM a inner_a JOIN b i ON inner_a.x = i.x WHERE i.y = 1)",
            ),
            (
                "x IN (SELECT y FROM \"B\" UNION SELECT z FROM c WHERE c.z = i.z)",
                "inventory.x IN (SELECT y FROM \"B\" \"inner_B\" UNION SELECT z FROM c inner_c WHERE inner_c.z = inventory.z)",
            ),
            (
                "EXISTS (SELECT 1 FROM inventory AS inventory WHERE inventory.x = i.x)",
                "EXISTS (SELECT 1 FROM inventory inner_inventory WHERE inner_inventory.x = inventory.x)",
            ),
        ] {
            assert_eq!(
                qualified(condition, Dbms::Postgres, &owner).as_deref(),
                Some(said)
            );
        }
        let hidden = "EXISTS (SELECT 1 FROM b inventory WHERE inventory.x = i.x)";
        assert_eq!(qualified(hidden, Dbms::Mysql, &owner), None);
        let row = "EXISTS (SELECT count(b) FROM b WHERE b.x = i.x)";
        assert_eq!(qualified(row, Dbms::Postgres, &owner), None);
        assert!(qualified(row, Dbms::Mysql, &owner).is_some());
    }
}
