//! Which column of which table a column of a query is.

use dynafold_relational::catalog::{Catalog, Column, Table};

use super::operand::{ColumnRef, Name};
use super::select::{RelationSource, Select, SelectOutput};

/// A column of a table, with the place of the relation that it is read from.
pub type ColumnOrigin<'c> = (usize, &'c Table, &'c Column);

/// A column of a result that is a column of a table as it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SelectedColumn<'c> {
    /// The place of the relation that it is read from.
    pub relation: usize,
    /// The table of the catalog.
    pub table: &'c Table,
    /// The column of that table.
    pub column: &'c Column,
    /// Whether it goes by a name of its own.
    pub is_renamed: bool,
}

/// A table by the name that a query has for it: of the first schema of the search path that has one of that name.
/// Where names are told apart by case, MySQL on Linux say, the one that is spelt so comes first.
pub fn table<'c>(catalog: &'c Catalog, schema: Option<&Name>, name: &Name) -> Option<&'c Table> {
    let of = |is_schema: &dyn Fn(&str) -> bool| {
        let mut tables = catalog.tables.iter();
        let fits = |table: &&Table| is_schema(&table.name.schema) && name.is(&table.name.name);
        let found = || tables.clone().filter(fits);
        let spelt = found().find(|table| table.name.name == name.text);
        spelt.or_else(|| tables.find(fits))
    };
    match schema {
        Some(schema) => of(&|known| schema.is(known)),
        None => {
            let mut path = catalog.search_path.iter();
            path.find_map(|schema| of(&|known| known == schema))
        }
    }
}

impl Select {
    /// The table that a relation is.
    pub fn table<'c>(&self, relation: usize, catalog: &'c Catalog) -> Option<&'c Table> {
        match &self.relations.get(relation)?.source {
            RelationSource::Table { schema, name } => table(catalog, schema.as_ref(), name),
            RelationSource::With(_) | RelationSource::Query | RelationSource::Other => None,
        }
    }

    /// The column of a table that a name means; `None` where that is not plain to see.
    pub fn origin<'c>(&self, wanted: &ColumnRef, catalog: &'c Catalog) -> Option<ColumnOrigin<'c>> {
        let found = self.columns_called(&wanted.name, catalog);
        if let Some(owner) = &wanted.owner {
            let owner = self.called(&owner.text)?;
            return found.into_iter().find(|(at, ..)| *at == owner);
        }
        // Of what is no table it is not known which columns it has.
        let mut all = 0..self.relations.len();
        let are_tables = all.all(|at| self.table(at, catalog).is_some());
        match found.as_slice() {
            [only] if are_tables => Some(*only),
            _ => None,
        }
    }

    /// The columns of its tables that are called so, one of each table at most.
    pub fn columns_called<'c>(&self, name: &Name, catalog: &'c Catalog) -> Vec<ColumnOrigin<'c>> {
        let found = (0..self.relations.len()).filter_map(|at| {
            let table = self.table(at, catalog)?;
            let mut columns = table.columns.iter();
            Some((at, table, columns.find(|column| name.is(&column.name))?))
        });
        found.collect()
    }

    /// The columns of tables that its result has as they are, for each of its columns; `None` where it is not known
    /// how many columns it has.
    pub fn origins<'c>(&self, catalog: &'c Catalog) -> Option<Vec<Option<SelectedColumn<'c>>>> {
        let selected = |(relation, table, column), is_renamed| SelectedColumn {
            relation,
            table,
            column,
            is_renamed,
        };
        let all = |at: usize| {
            let table = self.table(at, catalog)?;
            let columns = table.columns.iter();
            Some(columns.map(move |column| Some(selected((at, table, column), false))))
        };
        let mut found = Vec::new();
        for output in &self.outputs {
            match output {
                SelectOutput::All => {
                    for at in 0..self.relations.len() {
                        found.extend(all(at)?);
                    }
                }
                SelectOutput::AllOf(path) => found.extend(all(self.called(&path.last()?.text)?)?),
                SelectOutput::One { name, value } => {
                    let column = value.column();
                    let origin = column.and_then(|column| self.origin(column, catalog));
                    found.push(origin.map(|origin| {
                        let is_other = |name: &Name| !name.is(&origin.2.name);
                        selected(origin, name.as_ref().is_some_and(is_other))
                    }));
                }
            }
        }
        Some(found)
    }

    /// The relation of a name.
    pub fn called(&self, name: &str) -> Option<usize> {
        let is = |called: &Name| called.is(name);
        let mut relations = self.relations.iter();
        relations.position(|relation| relation.called.as_ref().is_some_and(is))
    }
}

#[cfg(test)]
mod tests {
    use dynafold_relational::catalog::sample::shop;

    use super::super::SqlQuery;

    #[test]
    fn a_table_without_a_schema_is_of_the_first_schema_that_has_one() {
        let mut catalog = shop();
        let mut other = catalog.find("orders").cloned().unwrap();
        other.name.schema = "later".to_owned();
        // The order of the catalog says nothing.
        catalog.tables.insert(0, other);
        catalog.search_path = vec!["none".into(), "public".into(), "later".into()];
        let query = SqlQuery::read("SELECT * FROM orders", Some(catalog.dbms)).unwrap();
        let found = query.select().and_then(|select| select.table(0, &catalog));
        assert_eq!(found.map(|table| &*table.name.schema), Some("public"));
    }
}
