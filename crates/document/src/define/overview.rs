//! What the table comes to, for those who sign: items, storage, cost, the load, warnings and guarantees, each with how it
//! is known.

use dynafold_dynamodb::price::{Prices, Rates, RouteKind, monthly};
use dynafold_dynamodb::{Table, TableClass, Throughput};
use dynafold_format::{bytes, count, counted, counted_as, float};
use dynafold_mapping::diagnostic::{Code, Risk};
use dynafold_mapping::model::Model;

use super::figures::{Basis, SteadyPlace};
use super::{DocumentFacts, guarantees};
use crate::definition::Warning;
use crate::phrases;
use crate::tree::{
    DocBlock, DocRow, DocTable, TableRole, TextLine, TextPiece, joined, plain, prose, texts,
};

/// The names of what there is, what it comes to, and what is not in the costs.
pub(super) fn blocks(facts: &DocumentFacts<'_>) -> Vec<DocBlock> {
    let inputs = facts.inputs;
    let rows = [
        ("Items", items(facts)),
        ("Storage", storage(facts)),
        ("Duration of the load", load(facts)),
        ("A month without any request", month_idle(facts)),
        ("A month at the declared rates", month_rated(facts)),
        ("Warnings", warnings(facts)),
        ("Guarantees of the database", guaranteed(facts)),
    ];
    let rows = rows
        .into_iter()
        .map(|(what, (figure, basis))| DocRow::new(vec![vec![plain(what)], figure, prose(&basis)]));
    let table = DocTable::new(
        "What the table comes to",
        ["What", "Comes to", "Known from"],
        rows,
    );
    let prices = phrases::prices(inputs.prices);
    let note = format!("{prices} {}", not_counted(inputs.model));
    vec![named(facts), DocBlock::Table(table), DocBlock::note(note)]
}

/// What is said of one thing, and how it is known, in prose of ours.
type SummaryRow = (TextLine, String);

fn summary_row(figure: impl Into<String>, basis: impl Into<String>) -> SummaryRow {
    (vec![plain(figure)], basis.into())
}

/// The names and numbers of what the mapping says.
fn named(facts: &DocumentFacts<'_>) -> DocBlock {
    let inputs = facts.inputs;
    let sources = facts.sources.iter();
    let read = sources.filter(|table| matches!(table.role, TableRole::Read | TableRole::Queried));
    let tables = counted(facts.sources.len(), "table");
    let table = &inputs.model.table;
    let fixed = [
        ("Table", table.name.clone()),
        ("Mapping", inputs.mapping.to_owned()),
        (
            "Source",
            format!(
                "{}, {} of {tables} read",
                facts.catalog.dbms,
                count(read.count())
            ),
        ),
        ("Indexes", table.all_indexes().count().to_string()),
        ("Item types", facts.item_types.len().to_string()),
        ("Access patterns", facts.patterns.len().to_string()),
    ];
    let description = inputs.model.description.clone();
    let description = description.map(|text| ("Description", text));
    texts(fixed.into_iter().chain(description))
}

/// What is to be done so that sizes are known.
fn unknown(facts: &DocumentFacts<'_>) -> &'static str {
    match facts.figures.basis {
        Basis::Nothing => "not known without --source",
        Basis::Estimate | Basis::AllRows => "not known without --all",
    }
}

/// What figures of items and sizes are from.
fn basis(facts: &DocumentFacts<'_>) -> &'static str {
    match facts.figures.basis {
        Basis::AllRows => "every row was read",
        Basis::Estimate => "the database's own counts of rows, and the first rows",
        Basis::Nothing => "the database's own counts of rows; no row was read",
    }
}

fn items(facts: &DocumentFacts<'_>) -> SummaryRow {
    let items = facts.figures.items();
    let rejected = facts.figures.item_types.iter().map(|each| each.rejected);
    let basis = match rejected.sum() {
        0_u64 => basis(facts).to_owned(),
        rejected => format!(
            "{}; {} rejected and in no item",
            basis(facts),
            counted_as(rejected, "row is", "rows are")
        ),
    };
    summary_row(items.unwrap_or_else(|| unknown(facts).to_owned()), basis)
}

fn storage(facts: &DocumentFacts<'_>) -> SummaryRow {
    let figures = &facts.figures;
    match figures.stored_bytes() {
        Some(stored) => {
            let mut basis = format!(
                "{}; with the 100 bytes that DynamoDB adds to each item",
                basis(facts)
            );
            if figures.item_types.iter().any(|each| each.sharing > 0) {
                basis.push_str("; rows that are rejected because they share a key are counted");
            }
            let figure = format!("{}{}, indexes included", figures.about(), bytes(stored));
            summary_row(figure, basis)
        }
        None => summary_row(unknown(facts), ""),
    }
}

/// How long the load takes into the table as the mapping has it.
fn load(facts: &DocumentFacts<'_>) -> SummaryRow {
    let figures = &facts.figures;
    let table = &facts.inputs.model.table;
    let ways = figures.loads(table, facts.inputs.prices);
    let is_warm = table.settings.warm_throughput.is_some();
    let wanted = match table.billing.provisioned() {
        Some(_) => RouteKind::ProvisionedAsMapped,
        None if is_warm => RouteKind::OnDemandWarmed,
        None => RouteKind::OnDemand,
    };
    let Some(way) = ways.iter().find(|way| way.route == wanted) else {
        return match figures.places.as_slice() {
            [] => summary_row(unknown(facts), ""),
            _ => summary_row("nothing to load", basis(facts)),
        };
    };
    let duration = way.seconds.map(phrases::duration).unwrap_or_default();
    let is_about = figures.basis != Basis::AllRows && way.seconds.is_some_and(|time| time >= 1.0);
    let mut figure = format!(
        "at best {}{duration} ({})",
        if is_about { "about " } else { "" },
        way.route.words(),
    );
    // The price of the way is that of warming it as far as it goes, not as far as the mapping says.
    if !is_warm {
        let price = phrases::about(figures.about(), way.usd);
        figure.push_str(&format!(", for {price}"));
    }
    let limited = way.limited.words();
    let mut basis = limited.map_or_else(String::new, |limit| format!("limited by {limit}; "));
    basis.push_str("reading the source may take longer");
    if is_scaled(table) {
        basis.push_str(", and auto scaling may shorten it");
    }
    if figures.basis != Basis::AllRows {
        basis.push_str("; the hottest partition key is not known without `--all`");
    }
    summary_row(figure, basis)
}

/// Whether provisioned capacity follows the load.
fn is_scaled(table: &Table) -> bool {
    let mut indexes = table.indexes.iter();
    table.settings.autoscale.is_some() || indexes.any(|index| index.autoscale.is_some())
}

/// What a month costs in which nobody asks or writes anything.
fn month_idle(facts: &DocumentFacts<'_>) -> SummaryRow {
    let prices = facts.inputs.prices;
    let table = &facts.inputs.model.table;
    let stored = facts.figures.stored_bytes();
    let storage = stored.map(|stored| {
        let storage = prices.storage(float(stored));
        phrases::about(facts.figures.about(), storage)
    });
    let Some(own) = table.billing.provisioned() else {
        let basis = "storage alone: on demand, requests are paid one by one";
        let figure = storage.unwrap_or_else(|| unknown(facts).to_owned());
        return summary_row(figure, basis);
    };
    let capacity = phrases::about("", capacity_cost(table, own, prices));
    let mut basis = "the capacity that the mapping provisions is paid by the hour".to_owned();
    if is_scaled(table) {
        basis.push_str(", and auto scaling changes it");
    }
    let figure = match storage {
        Some(storage) => format!("{capacity} for capacity and {storage} for storage"),
        None => format!(
            "{capacity} for capacity, and storage, which is {}",
            unknown(facts)
        ),
    };
    summary_row(figure, basis)
}

/// What a month costs at the declared rates, with storage.
fn month_rated(facts: &DocumentFacts<'_>) -> SummaryRow {
    let inputs = facts.inputs;
    let item_types = inputs.model.item_types.iter();
    let rated_types = item_types.filter(|item| item.write_rate.is_some()).count();
    let patterns = inputs.model.patterns.iter();
    let rated_patterns = patterns.filter(|one| one.rate.is_some()).count();
    if rated_types + rated_patterns == 0 {
        return summary_row(
            "not known without rates",
            "no access pattern has a `rate`, and no item type a `write_rate`",
        );
    }
    let all = SteadyPlace::sum(&facts.figures.steady(facts));
    let stored = facts.figures.stored_bytes();
    // Reads are those of the examples, writes those of a mean item.
    let total = |requests: Option<f64>| {
        let storage = stored.map_or(Some(0.0), |stored| inputs.prices.storage(float(stored)));
        let total = requests.zip(storage).map(|(one, other)| one + other);
        if all.cost_at_least() {
            phrases::about_or_more("about ", total)
        } else {
            phrases::about("about ", total)
        }
    };
    let with = match stored {
        Some(_) => "storage included".to_owned(),
        None => format!("and storage, which is {}", unknown(facts)),
    };
    let figure = format!(
        "{} on demand, {} if as many units are provisioned; {with}",
        total(all.cost.on_demand_usd),
        total(all.cost.provisioned_usd),
    );
    let mut basis = format!(
        "steady rates, all month, of {rated_patterns} of {} and of {rated_types} of {}; others are not in it",
        counted(facts.patterns.len(), "access pattern"),
        counted(facts.item_types.len(), "item type"),
    );
    if rated_patterns > 0 {
        basis.push_str(
            "; each call counts the read units of its example, or the minimum if it has none",
        );
    }
    if inputs.model.table.billing.provisioned().is_some() {
        basis.push_str("; the capacity that the mapping itself provisions is in the row above");
    }
    summary_row(figure, basis)
}

/// What capacity costs a month that is provisioned for the table and its global indexes.
fn capacity_cost(table: &Table, own: Throughput, prices: &Prices) -> Option<f64> {
    let indexes = table.indexes.iter();
    let all = indexes.map(|index| index.throughput.unwrap_or(own));
    let all = std::iter::once(own).chain(all).map(|units| {
        let rates = Rates {
            reads: float(units.read),
            writes: float(units.write),
        };
        monthly(rates, prices).provisioned_usd
    });
    all.sum()
}

/// What is paid besides, as far as the mapping tells it.
fn not_counted(model: &Model) -> String {
    let settings = &model.table.settings;
    let replicas = settings.replicas.len();
    let replicas = (replicas > 0)
        .then(|| format!("writes to and storage of {}", counted(replicas, "replica")));
    let backups = settings.backups.is_some() || settings.point_in_time_recovery == Some(true);
    let others = [
        Some("data transfer".to_owned()),
        replicas,
        backups.then(|| "backups".to_owned()),
        (!model.roll_ups.is_empty())
            .then(|| "the function of roll-ups, its reads and its writes".to_owned()),
        settings.stream.map(|_| "reading the stream".to_owned()),
        settings
            .warm_throughput
            .map(|_| "the warm throughput".to_owned()),
    ];
    let others: Vec<String> = others.into_iter().flatten().collect();
    let mut text = format!("Not in the costs: {}.", others.join("; "));
    if settings.class == Some(TableClass::InfrequentAccess) {
        text.push_str(
            " They are those of the standard table class; in the class infrequent-access storage costs less and requests more.",
        );
    }
    text
}

fn warnings(facts: &DocumentFacts<'_>) -> SummaryRow {
    let inputs = facts.inputs;
    let mut lines: Vec<TextLine> = by_risk(&inputs.warnings)
        .into_iter()
        .map(|(title, found)| vec![plain(format!("{} about {title}", count(found.len())))])
        .collect();
    if lines.is_empty() {
        lines.push(vec![plain("none open")]);
    }
    if !inputs.accepted.is_empty() {
        let accepted = count(inputs.accepted.len());
        lines.push(vec![plain(format!("{accepted} accepted by the mapping"))]);
    }
    let mut basis = "`dynafold check`".to_owned();
    if facts.figures.basis == Basis::Nothing {
        basis.push_str("; those that only the database tells are not known without `--source`");
    }
    (joined(lines, &TextPiece::Break), basis)
}

/// Warnings with what they put at risk, the heaviest first.
pub(super) fn by_risk(warnings: &[Warning]) -> Vec<(&'static str, Vec<&Warning>)> {
    let risk = |warning: &Warning| {
        let mut codes = Code::ALL.iter();
        codes.find(|code| code.as_str() == warning.code)?.risk()
    };
    let risks = Risk::ALL.iter().map(|risk| (Some(*risk), risk.words()));
    let all = risks.chain([(None, "something else")]);
    let found = all.map(|(wanted, title)| {
        let found = warnings.iter().filter(|each| risk(each) == wanted);
        (title, found.collect::<Vec<_>>())
    });
    found.filter(|(_, found)| !found.is_empty()).collect()
}

fn guaranteed(facts: &DocumentFacts<'_>) -> SummaryRow {
    let all = &facts.inputs.proofs.guarantees;
    let basis = match all.not_read.len() {
        0 => "the database's catalog".to_owned(),
        _ => "the database's catalog; what could not be read of it is in the list".to_owned(),
    };
    summary_row(guarantees::summary(all), basis)
}
