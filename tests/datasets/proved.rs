//! The eight queries of pagila and of northwind: each access pattern proved with all values that there
//! are up to a hundred, and the answers to the queries' own values counted.

use serde_json::Value;

use super::Case;
use crate::support::datasets::Dataset;

/// A query of the datasets' README: the pattern that serves it, its parameters, the item type that has
/// an item for each row, and how many rows there are.
type Query<'q> = (&'q str, &'q [&'q str], &'q str, usize);

/// P5 gathers cast and categories into one row, which is the film; the table has them beside it.
pub(super) const PAGILA: &[Query<'_>] = &[
    ("getCustomer", &["customerId=148"], "CUSTOMER", 1),
    ("listRentalsOfCustomer", &["customerId=148"], "RENTAL", 20),
    (
        "listCopiesOnTheShelf",
        &["filmId=1", "storeId=1"],
        "COPY",
        4,
    ),
    ("listOpenRentalsOfStaff", &["staffId=1"], "RENTAL", 85),
    ("getFilmPage", &["filmId=508"], "FILM", 1),
    ("listFilmsOfActor", &["actorId=107"], "FILM_ACTOR", 42),
    (
        "listPaymentsOfCustomerBetween",
        &[
            "customerId=148",
            "from=2022-03-01T00:00:00Z",
            "until=2022-05-01T00:00:00Z",
        ],
        "PAYMENT",
        16,
    ),
    (
        "listFilmsOfCategoryByRating",
        &["categoryId=7", "rating=PG-13"],
        "FILM_CATEGORY",
        22,
    ),
];

/// N1 has a row for each line of the order, beside which the table has the order itself.
pub(super) const NORTHWIND: &[Query<'_>] = &[
    ("getOrder", &["orderId=10657"], "ORDER_LINE", 6),
    ("listOrdersOfCustomer", &["customerId=SAVEA"], "ORDER", 10),
    ("listUnshippedOrders", &[], "ORDER", 21),
    (
        "listOrdersOfEmployeeBetween",
        &["employeeId=4", "from=1997-10-01", "until=1997-11-01"],
        "ORDER",
        7,
    ),
    (
        "listLiveProductsOfCategory",
        &["categoryId=1"],
        "PRODUCT",
        9,
    ),
    ("listReportsOfEmployee", &["employeeId=2"], "EMPLOYEE", 5),
    ("listOrdersOfProduct", &["productId=11"], "ORDER_LINE", 38),
    (
        "listTerritoriesOfEmployee",
        &["employeeId=7"],
        "EMPLOYEE_TERRITORY",
        10,
    ),
];

impl Case {
    /// Loads into the embedded engine, proves the patterns, and counts the answers to the queries.
    /// Without a name all patterns that have SQL are proved.
    pub(super) fn answers(&self, dataset: &Dataset, queries: &[Query<'_>], also: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        let file = format!("local:{}", folder.path().join("table.ddb").display());
        let table = self.table(dataset);
        let target = ["--target", file.as_str()];
        let run = |arguments: &[&str]| {
            let all = [arguments, &target[..]].concat();
            self.run(&all, dataset, &table)
        };
        run(&["migrate"]).exits(0);
        let named = queries
            .iter()
            .map(|query| query.0)
            .chain(also.iter().copied());
        let named: Vec<&str> = named.flat_map(|name| ["--pattern", name]).collect();
        let proof = [&["verify", "--patterns", "--values", "100"], &named[..]].concat();
        let report = run(&proof).exits(0).json();
        let state = report["outcome"]["state"].as_str().unwrap();
        assert!(["proved", "agrees"].contains(&state), "{report:#}");
        let patterns = report["patterns"].as_array().unwrap().iter();
        let claims = report["claims"].as_array().unwrap();
        let claimed = |pattern: &&Value| {
            let mut claims = claims.iter();
            claims.any(|claim| claim["of"]["pattern"] == pattern["pattern"])
        };
        let patterns = patterns.filter(claimed);
        for pattern in patterns {
            assert!(pattern["items"].as_u64().unwrap() > 0, "{pattern:#}");
            let is_asked = pattern["pattern"] != "listUnshippedOrders";
            let empty = pattern["empty_calls"].as_u64().unwrap();
            assert!(!is_asked || empty > 0, "{pattern:#}");
        }
        for (pattern, parameters, item_type, count) in queries {
            let mut arguments = vec!["query"];
            for parameter in *parameters {
                arguments.extend(["--param", parameter]);
            }
            let answer = self.ask(&arguments, &target, pattern, dataset, &table);
            let items = answer["items"].as_array().unwrap().iter();
            // A sparse index may not hold the type attribute.
            let of_type =
                items.filter(|item| item["_type"].is_null() || item["_type"]["S"] == *item_type);
            assert_eq!(of_type.count(), *count, "{pattern}");
        }
    }

    fn ask(
        &self,
        arguments: &[&str],
        target: &[&str],
        pattern: &str,
        dataset: &Dataset,
        table: &str,
    ) -> Value {
        let mapping = format!(
            "{}/mappings/{}.yaml",
            env!("CARGO_MANIFEST_DIR"),
            self.mapping
        );
        let url = dataset.url();
        let first = [
            arguments[0],
            &mapping,
            pattern,
            "--source",
            &url,
            "--format",
            "json",
            "--all",
        ];
        let all = [&first[..], &arguments[1..], target].concat();
        let mut command = crate::support::cli::command(&all);
        command.env("TABLE_NAME", table);
        crate::support::cli::run(&mut command).exits(0).json()
    }
}
