//! Deleting a table, and waiting until it is gone. Safe to repeat.

use std::time::Duration;

use aws_sdk_dynamodb::error::ProvideErrorMetadata;
use tokio::time::{Instant, sleep};

use super::{Dynamodb, describe};
use crate::target::{ErrorClass, TargetError};

/// Between two looks at a table that is being deleted: at first, and at most.
const LOOK: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));
/// A table is gone within a minute or two, a large one with replicas somewhat later.
const PATIENCE: Duration = Duration::from_mins(15);

impl Dynamodb {
    pub(super) async fn remove_table(&self, name: &str) -> Result<(), TargetError> {
        let begun = Instant::now();
        let (mut pause, mut asked) = (LOOK.0, false);
        loop {
            if !asked {
                let request = self.control.delete_table().table_name(name);
                match request.send().await {
                    Ok(_) => asked = true,
                    Err(error) => match error.code() {
                        Some("ResourceNotFoundException") => return Ok(()),
                        // It is being made or changed, or is being deleted already.
                        Some("ResourceInUseException") if begun.elapsed() < PATIENCE => {}
                        _ => return Err(self.action("DeleteTable", name).classify(&error)),
                    },
                }
            }
            let Some(found) = self.describe_raw(name).await? else {
                return Ok(());
            };
            if begun.elapsed() >= PATIENCE {
                let status = describe::status(&found);
                return Err(self.action("DescribeTable", name).error(
                    ErrorClass::Fatal,
                    "ResourceInUseException",
                    &format!("the table was not deleted; its status is `{status}`"),
                    Some("look at it in the console, and run again once it is gone"),
                ));
            }
            sleep(pause).await;
            pause = (pause * 2).min(LOOK.1);
        }
    }
}
