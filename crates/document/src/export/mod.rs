//! Infrastructure made from a mapping.
//!
//! [`infrastructure`] says what is to be there, in no format's words; a format's own file writes it. What
//! does not depend on the mapping stands in files as the format has it; what does is JSON, but for
//! Terraform, whose language [`hcl`] knows and nothing of DynamoDB. What a format cannot say is a warning
//! or a refusal, never left out in silence. Pure and deterministic: no clock, no names made up by chance.

mod cloudformation;
mod hcl;
mod iam;
mod infrastructure;
mod names;
mod terraform;
mod workbench;

use dynafold_mapping::model::{Model, RollUp};
use dynafold_mapping::sample::ItemTypeSample;
use jiff::Timestamp;

use infrastructure::Infrastructure;

/// Writes an export. `samples` are example items; only a Workbench model holds any.
///
/// # Errors
///
/// [`ExportError`] when the format cannot say what the mapping says.
pub fn export(
    format: ExportFormat,
    model: &Model,
    samples: &[ItemTypeSample],
    options: &ExportOptions,
) -> Result<Export, ExportError> {
    match format {
        ExportFormat::Cloudformation => cloudformation::write(&Infrastructure::of(model)),
        ExportFormat::Terraform => terraform::write(&Infrastructure::of(model)),
        ExportFormat::Workbench => Ok(workbench::write(model, samples, options)),
        ExportFormat::IamMigration => Ok(iam::migration(model, options)),
        ExportFormat::IamImport => Ok(iam::import(model, options)),
        ExportFormat::IamBulk => Ok(iam::bulk(model, options)),
        ExportFormat::IamApplication => iam::application(model, options),
    }
}

/// What an export is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// A CloudFormation template.
    Cloudformation,
    /// A Terraform configuration.
    Terraform,
    /// A NoSQL Workbench data model.
    Workbench,
    /// The IAM policy that loads, verifies and asks the table.
    IamMigration,
    /// The IAM policy of an import from S3 into a new table.
    IamImport,
    /// The IAM policy of a bulk operation from S3 on a table that exists.
    IamBulk,
    /// The IAM policy of the application, which asks the access patterns.
    IamApplication,
}

impl ExportFormat {
    /// What stands near the beginning of each export of this format.
    pub fn marker(self) -> &'static str {
        match self {
            Self::Cloudformation | Self::Terraform => "# Written by `dynafold docs`",
            Self::Workbench => r#""Author": "dynafold docs""#,
            Self::IamMigration => r#""Sid": "DynafoldMigration"#,
            Self::IamImport => r#""Sid": "DynafoldImport"#,
            Self::IamBulk => r#""Sid": "DynafoldBulk"#,
            Self::IamApplication => r#""Sid": "DynafoldApplication"#,
        }
    }
}

/// What an export needs besides the mapping.
#[derive(Debug, Clone, Default)]
pub struct ExportOptions {
    /// The region in ARNs; any without it.
    pub region: Option<String>,
    /// The account in ARNs; any without it.
    pub account: Option<String>,
    /// Whom a partition belongs to.
    pub tenant: Tenant,
    /// The date of a Workbench model, which has to have one; 1970 without it.
    pub now: Option<Timestamp>,
}

/// Whom the partitions that an application asks for belong to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Tenant {
    /// To the one parameter by which all access patterns find their partition, where there is one.
    #[default]
    Inferred,
    /// To the parameter of this name.
    Parameter(String),
    /// To nobody.
    Nobody,
}

/// A file that a mapping is exported to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    /// The whole content of the file.
    pub text: String,
    /// What the format cannot say, and what has to be known to use it.
    pub warnings: Vec<String>,
}

/// Why there is no export.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    /// When a text holds what CloudFormation puts something else in place of.
    #[error(
        "CloudFormation would replace `{{{{resolve:…}}}}` in {what}, and this cannot be escaped"
    )]
    Resolved {
        /// Where the text stands.
        what: String,
    },
    /// When a mapping has no access pattern, and an application therefore asks nothing.
    #[error("the mapping has no access patterns, so there is nothing to allow")]
    NoPatterns,
    /// When the tenant is what no access pattern finds its partition by.
    #[error("no access pattern finds its partition by `{name}`")]
    UnknownTenant {
        /// The parameter.
        name: String,
        /// Those by which partitions are found.
        known: Vec<String>,
    },
    /// When the tenant is a parameter that does not keep callers to their own partitions.
    #[error("the tenant `{name}` does not restrict the access pattern `{pattern}`: {reason}")]
    Unbound {
        /// The parameter.
        name: String,
        /// The access pattern.
        pattern: String,
        /// What it reaches.
        reason: String,
    },
    /// When a table with replicas has write capacity that stays as it is.
    #[error(
        "DynamoDB creates replicas of a provisioned table only if its write capacity is autoscaled"
    )]
    FixedReplicas,
    /// When the provider of Terraform does not take a warm throughput.
    #[error(
        "Terraform accepts a warm throughput of at least {WARM_READ} reads and {WARM_WRITE} writes a second, and the mapping has {read} and {write}"
    )]
    ColdThroughput {
        /// Reads a second.
        read: u64,
        /// Writes a second.
        write: u64,
    },
}

/// The least warm throughput that the provider of Terraform takes: reads a second.
const WARM_READ: u64 = 12_000;
/// Writes a second.
const WARM_WRITE: u64 = 4_000;

impl ExportError {
    /// What can be done about it.
    pub fn help(&self) -> String {
        let help = match self {
            Self::Resolved { .. } => {
                "change the text, or export to Terraform, which keeps it as it is"
            }
            Self::NoPatterns => "list what the application reads under `access_patterns`",
            Self::UnknownTenant { known, .. } if known.is_empty() => {
                "no access pattern finds its partition by a parameter: use the tenant `none`"
            }
            Self::UnknownTenant { known, .. } => {
                return format!("use one of {}, or `none`", known.join(", "));
            }
            Self::Unbound { .. } => {
                "use the tenant `none`, or move the access patterns that read other tenants' data to a mapping of their own, with a policy for another role"
            }
            Self::FixedReplicas => "give `billing` an `autoscale`, or use `billing: on-demand`",
            Self::ColdThroughput { .. } => {
                "raise `warm_throughput`, leave it out, or export to CloudFormation"
            }
        };
        help.to_owned()
    }
}

/// What keeps expired items, a function of AWS Lambda: the table's stream → the function, which is
/// called only for what DynamoDB itself deleted → one object in S3 for each batch, a line of DynamoDB
/// JSON for each item, as in the archive that `migrate` writes. What fails is tried again for as
/// long as the stream keeps it.
const ARCHIVE_FUNCTION: &str = include_str!("archive.py");

/// What sums shards, a function of AWS Lambda that a schedule calls with what is to be summed: it scans the table, and
/// writes the sums that have changed.
const ROLL_UP_FUNCTION: &str = include_str!("roll_up.py");

/// What a roll-up is called in lists of schedules.
fn roll_up_description(roll_up: &RollUp) -> String {
    let text = format!(
        "{} of {} into {}",
        roll_up.attribute, roll_up.of, roll_up.total
    );
    text.chars().take(512).collect()
}

/// A template with values in place of its `@names@`. What a value holds is not looked at again.
fn filled(template: &str, values: &[(&str, impl AsRef<str>)]) -> String {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('@') {
        text.push_str(before);
        let mut found = values.iter().filter_map(|(name, value)| {
            let left = after.strip_prefix(name)?.strip_prefix('@')?;
            Some((value.as_ref(), left))
        });
        let (value, left) = found.next().unwrap_or(("@", after));
        text.push_str(value);
        rest = left;
    }
    text.push_str(rest);
    text
}

/// What Athena calls the table over the archive: it takes letters, digits and underscores.
fn athena_name(table: &str) -> String {
    let name = table.replace(|sign: char| !sign.is_ascii_alphanumeric(), "_");
    format!("expired_{}", name.to_ascii_lowercase())
}

/// What a vault of AWS Backup is called: letters, digits, hyphens and underscores, at most 50. A name that is too long
/// ends in a hash of the whole.
fn vault_name(table: &str) -> String {
    const MOST: usize = 42;
    let name = table.replace('.', "-");
    let name = if name.len() > MOST {
        // FNV-1a: the same in every version.
        let hash = table.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
            (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
        });
        let begin: String = name.chars().take(MOST - 9).collect();
        format!("{begin}-{hash:08x}")
    } else {
        name
    };
    format!("{name}-backups")
}

/// Lines below a line that is indented less.
fn indented(lines: &str, by: &str) -> String {
    let lines = lines.lines().map(|line| match line {
        "" => "\n".to_owned(),
        line => format!("{by}{line}\n"),
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use dynafold_mapping::{Described, Raw, resolve};
    use dynafold_relational::catalog::sample;

    use super::*;

    #[test]
    fn values_are_put_in_once() {
        let text = filled("@a@ @b@ @c@ x@y", &[("a", "@b@"), ("b", "1")]);
        assert_eq!(text, "@b@ 1 @c@ x@y");
    }

    /// One setting for the table and one for each global index, however many item types they hold.
    #[test]
    fn a_table_has_one_capacity_however_many_item_types() {
        let item_types = [
            "from: users, key: { PK: \"USER#{id}\", SK: U }",
            "from: orders, key: { PK: \"USER#{user_id}\", SK: \"O#{id}\" }",
            "from: orders, key: { PK: \"ORDER#{id}\", SK: O }",
        ];
        let capacities = |count: usize| {
            let mut mapping = "dynafold: 1\ntable: { name: shop, key: { partition: PK, sort: SK }, billing: { read: 5, write: 7 }, \
                indexes: { BY_SK: { partition: SK, sort: PK }, BY_ID: { partition: ID, billing: { read: 2, write: 3 } } } }\nitems:\n"
                .to_owned();
            for (at, item_type) in item_types.iter().take(count).enumerate() {
                mapping.push_str(&format!(
                    "  T{at}: {{ {item_type}, attributes: {{ ID: \"{{id}}\" }} }}\n"
                ));
            }
            let (raw, faults) = Raw::read(&mapping, &|_| None);
            let catalog = &sample::shop();
            let resolution = resolve(&raw.unwrap(), faults, catalog, &Described::new());
            let model = resolution
                .model
                .unwrap_or_else(|| panic!("{:#?}", resolution.diagnostics));
            assert_eq!(model.item_types.len(), count);
            let written = |format| {
                export(format, &model, &[], &ExportOptions::default())
                    .unwrap()
                    .text
            };
            let cloudformation = written(ExportFormat::Cloudformation);
            let lines = cloudformation.lines().map(str::trim);
            let found = lines.filter_map(|line| line.strip_prefix("ProvisionedThroughput: "));
            let found: Vec<String> = found.map(str::to_owned).collect();
            let terraform = written(ExportFormat::Terraform);
            (found, terraform.matches("write_capacity").count())
        };
        let of = |read, write| {
            format!("{{ \"ReadCapacityUnits\": {read}, \"WriteCapacityUnits\": {write} }}")
        };
        let all = vec![of(5, 7), of(5, 7), of(2, 3)];
        assert_eq!(capacities(1), (all.clone(), 3));
        assert_eq!(capacities(3), (all, 3));
    }

    #[test]
    fn vaults_of_long_names_differ() {
        let long = "a".repeat(60);
        let (one, other) = (format!("{long}-one"), format!("{long}-two"));
        assert_ne!(vault_name(&one), vault_name(&other));
        assert_eq!(vault_name(&one).len(), 50);
        assert_eq!(vault_name("shop.orders"), "shop-orders-backups");
    }
}
