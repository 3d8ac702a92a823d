//! The figures of docs/scale.md, made again from their formulas; and a load of 1 TB second by second, held to every quota.

use dynafold::dynamodb::price::{
    LoadDemand, PARTITION_WRITES, Prices, Route, RouteKind, SHIPPED, WriteDemand, routes,
};

use dynafold::target::parts::PartsPlan;
use dynafold_format::count;

use crate::readme::blocks::page;

/// Bytes of an item, as DynamoDB counts them: one write unit.
const ITEM: f64 = 1_000.0;
/// Bytes of DynamoDB JSON for a byte of an item.
const JSON: f64 = 1.2;
/// Processor seconds for a million rows on Spark, as docs/scale.md says that they were measured.
const CPU: f64 = 8.0;
const SIZES: [(&str, f64); 3] = [("10 GB", 1e10), ("1 TB", 1e12), ("10 TB", 1e13)];
/// Write units a second of a table before a quota is raised.
const QUOTA: f64 = 40_000.0;

fn demand(bytes: f64) -> LoadDemand {
    let items = bytes / ITEM;
    LoadDemand {
        needs: vec![WriteDemand {
            name: "the table".to_owned(),
            units: items,
            hottest: 1.0,
            provisioned: None,
        }],
        import_bytes: bytes * JSON,
    }
}

fn line(name: &str, bytes: f64, route: &Route) -> String {
    let hours = route.seconds.map_or("unknown".to_owned(), |seconds| {
        format!("{:.1}", seconds / 3600.0)
    });
    let usd = route.usd.map_or("not in the price file".to_owned(), |usd| {
        format!("{usd:.0}")
    });
    let cores = route.seconds.map_or("none".to_owned(), |seconds| {
        format!("{:.2}", bytes / ITEM / seconds * CPU / 1e6)
    });
    let limit = route
        .limited
        .words()
        .unwrap_or_else(|| "AWS gives no figure".to_owned());
    format!(
        "| {name} | {} | {hours} | {limit} | {cores} | {usd} |",
        route.route.words()
    )
}

#[test]
fn every_figure_of_the_page_on_scale_follows_from_its_formula() {
    let page = page("docs/scale.md");
    let prices = Prices::read(SHIPPED, None).unwrap();
    assert!(
        page.text.contains(&prices.dated_source()),
        "{}",
        prices.dated_source()
    );
    let mut lines = Vec::new();
    for (name, bytes) in SIZES {
        let routes = routes(&demand(bytes), &prices);
        lines.extend(routes.iter().map(|route| line(name, bytes, route)));
    }
    let table = lines.join("\n");
    assert!(page.text.contains(&table), "it should be\n{table}");
}

/// Objects of one import or bulk operation (limits.md 43, 44).
const OBJECTS: u64 = 50_000;
/// Bytes of an object that a bulk operation takes (limits.md 44).
const OBJECT: u64 = 5_000_000_000;
/// Items under 1 KB that an object is to have at most (S3DataImport.BestPractices).
const SMALL_ITEMS: u64 = 4_000_000;
/// Bytes of all objects of an import, in three regions and in the others (limits.md 43).
const IMPORT: [u64; 2] = [15_000_000_000_000, 1_000_000_000_000];
/// Pieces of an upload (limits.md 45), and the bytes that docs/export.md says of each.
const PIECES: (u64, u64) = (10_000, 8 << 20);

#[test]
fn the_parts_of_an_export_of_a_terabyte_and_of_ten_hold_to_every_quota() {
    let page = page("docs/scale.md");
    let [mut parts, mut largest, mut together] = [Vec::new(), Vec::new(), Vec::new()];
    for (name, bytes) in [
        ("10 GB", 10_000_000_000),
        ("1 TB", 1_000_000_000_000),
        ("10 TB", 10_000_000_000_000_u64),
    ] {
        // JSON of small items is mostly names and types: three times their bytes.
        for (item, json) in [(100, (3, 1)), (1_000, (6, 5)), (100_000, (6, 5))] {
            let (items, json) = (bytes / item, |bytes: u64| bytes * json.0 / json.1);
            let plan = PartsPlan::of(items, bytes);
            assert!(plan.parts() <= OBJECTS, "{name}, {item}");
            // Hashes spread items evenly: none has more than six standard deviations above the mean.
            let mean = items / plan.parts();
            let most = mean + 6 * mean.isqrt() + 1;
            assert!(most <= SMALL_ITEMS, "{name}, {item}: {most} items");
            assert!(json(most * item) <= OBJECT, "{name}, {item}");
            assert!(json(most * item).div_ceil(PIECES.1) <= PIECES.0);
            if item == 1_000 {
                assert!(json(bytes) <= IMPORT[0], "{name}");
                parts.push(count(plan.parts()));
                largest.push(format!("{} MB", json(most * item).div_ceil(1_000_000)));
                let fits = if json(bytes) <= IMPORT[1] {
                    "all"
                } else {
                    "three"
                };
                together.push(format!(
                    "{} GB: {fits} regions",
                    count(json(bytes) / 1_000_000_000)
                ));
            }
        }
    }
    for (what, figures) in [
        (
            "parts of an export, of the 50,000 objects of an import",
            parts,
        ),
        (
            "the largest part, not compressed, of the 5 GB of an object",
            largest,
        ),
        (
            "all parts, not compressed, of the 15 TB of an import in three regions and the 1 TB in others",
            together,
        ),
    ] {
        let line = format!("| {what} | {} |", figures.join(" | "));
        assert!(page.text.contains(&line), "it should be\n{line}");
    }
}

#[test]
fn a_load_of_a_terabyte_holds_to_every_quota() {
    let bytes = 1e12;
    let (items, slots) = (bytes / ITEM, 32.0);
    // Lines of the plan: jobs of an array of AWS Batch, and indices of a Kubernetes job.
    let chunks = items / 250_000.0;
    assert!(chunks <= 10_000.0);
    // Each worker keeps to its share; a new table takes 4,000 a second and doubles that every half hour.
    let share = QUOTA / slots;
    let (mut left, mut seconds, mut takes) = (items, 0_u32, 4_000.0_f64);
    while left > 0.0 {
        let written = (share * slots).min(takes).min(left);
        assert!(written <= QUOTA);
        // Keys are spread over as many partitions as the table has: 10 GB each at most.
        let partitions = (bytes / 1e10).max(takes / PARTITION_WRITES);
        assert!(written / partitions <= PARTITION_WRITES);
        left -= written;
        seconds += 1;
        if seconds.is_multiple_of(1_800) {
            takes *= 2.0;
        }
    }
    let prices = Prices::read(SHIPPED, None).unwrap();
    let all = routes(&demand(bytes), &prices);
    let route = all
        .iter()
        .find(|route| route.route == RouteKind::OnDemand)
        .unwrap();
    let said = route.seconds.unwrap();
    assert!(
        (f64::from(seconds) - said).abs() < 2.0,
        "{seconds} seconds, and the page says {said}"
    );
}
