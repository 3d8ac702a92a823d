//! The reports of `export`, and of `verify --against-export`.

use serde::Serialize;

use super::figures;
use crate::format::{bytes, count, counted, shell_word};
use crate::target::parts::{
    ExportPlace, IMPORT_TABLE, ItemLines, Manifest, PartsComparison, PartsDifferenceKind,
};

/// What `verify --against-export` found.
#[derive(Serialize)]
pub(in crate::cli) struct ExportVerification {
    /// The folder of the export.
    pub(in crate::cli) export: String,
    /// The source that the manifest names.
    pub(in crate::cli) exported_from: String,
    /// The source with which it was compared.
    pub(in crate::cli) source: String,
    /// The item types that were exported; empty: all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(in crate::cli) selection: Vec<String>,
    /// Items that the source makes.
    pub(in crate::cli) expected: u64,
    /// Rows that make no item.
    pub(in crate::cli) rejected: u64,
    #[serde(flatten)]
    pub(in crate::cli) comparison: PartsComparison,
}

/// What was exported.
pub(in crate::cli) fn export(manifest: &Manifest, place: &ExportPlace) -> String {
    let item_types = manifest.item_types.iter();
    let rows = item_types.map(|one| vec![one.item_type.clone(), count(one.items)]);
    let table = figures(["item type", "items"], rows);
    let written: u64 = manifest.parts.iter().map(|part| part.bytes).sum();
    let whole = format!(
        "{table}\n\n{} in {}, {} of {} in {} ({}): {place}",
        counted(manifest.items, "item"),
        counted(manifest.parts.len(), "part"),
        bytes(manifest.uncompressed_bytes()),
        manifest.lines,
        bytes(written),
        manifest.compression,
    );
    if manifest.lines == ItemLines::Plain {
        return whole;
    }
    if manifest.items == 0 {
        return format!(
            "{whole}\nthere is nothing to import; `dynafold migrate` makes an empty table"
        );
    }
    let import = |file: &str, source: &str| {
        let input = shell_word(&format!("file://{file}"));
        format!("aws dynamodb import-table --cli-input-json {input} --s3-bucket-source {source}")
    };
    let how = match place {
        ExportPlace::Folder(folder) => {
            let data = shell_word(&folder.join("data").display().to_string());
            let input = folder.join(IMPORT_TABLE).display().to_string();
            format!(
                "to import, with a bucket and a prefix of yours:\n  \
                 aws s3 cp --recursive {data} s3://BUCKET/PREFIX/\n  {}",
                import(&input, "S3Bucket=BUCKET,S3KeyPrefix=PREFIX/")
            )
        }
        ExportPlace::Bucket(bucket) => {
            let location = bucket.location();
            let source = format!(
                "S3Bucket={},S3KeyPrefix={}",
                location.bucket(),
                location.key("data/")
            );
            format!(
                "to import:\n  aws s3 cp {place}/{IMPORT_TABLE} .\n  {}",
                import(IMPORT_TABLE, &shell_word(&source))
            )
        }
    };
    format!("{whole}\n{how}")
}

/// What the comparison of an export with its source has found.
pub(in crate::cli) fn export_verification(found: &ExportVerification) -> String {
    let comparison = &found.comparison;
    let sums = [
        found.expected,
        comparison.equal,
        comparison.missing,
        comparison.different,
        comparison.unexpected,
        found.rejected,
    ];
    let counts = sums.iter().map(|figure| count(*figure));
    let row: Vec<String> = std::iter::once("total".to_owned()).chain(counts).collect();
    let header = [
        "",
        "expected",
        "equal",
        "missing",
        "different",
        "unexpected",
        "rejected",
    ];
    let mut text = figures(header, [row]);
    for part in &comparison.changed_parts {
        text.push_str(&format!("\n{part}"));
    }
    for example in &comparison.examples {
        let kind = match example.kind {
            PartsDifferenceKind::Missing => "missing",
            PartsDifferenceKind::Different => "different",
            PartsDifferenceKind::Unexpected => "unexpected",
        };
        let part = example.part.as_ref().map(|part| format!(" in {part}"));
        text.push_str(&format!(
            "\n{kind}: {}{}",
            example.key,
            part.unwrap_or_default()
        ));
    }
    let verdict = match (comparison.is_equal(), found.rejected) {
        (true, 0) => "verified: the parts hold",
        (true, _) => "the parts hold",
        (false, _) => "the parts do not hold",
    };
    let of = match found.selection.as_slice() {
        [] => String::new(),
        types => format!(" of {}", types.join(", ")),
    };
    let rejected = match found.rejected {
        0 => String::new(),
        rows => format!("; {} made no item", counted(rows, "row")),
    };
    format!("{text}\n\n{verdict} exactly the items that the source makes{of}{rejected}")
}
