//! States that are damaged, or cannot be kept.

use std::path::Path;
use std::process::Command;

use dynafold_testing::missing::not_tested;

use super::bench::script;
use super::case::Case;
use super::faults::{SLOW, begun, goes_on, says, sqlite};
use crate::support::cli::ran;
use crate::support::sqlite::Database;

#[tokio::test(flavor = "multi_thread")]
async fn a_state_that_is_damaged_is_found_out_and_nothing_is_skipped() {
    let (source, reference) = sqlite().await;
    let case = Case::storm(&source.url(), SLOW);
    let mut child = begun(&case, 1000, &[]);
    child.kill().unwrap();
    child.wait().unwrap();
    let state = case.path(".dynafold/app.state");
    let mut text = std::fs::read(&state).unwrap();
    let middle = text.len() / 2;
    text[middle..middle + 16].fill(0);
    std::fs::write(&state, text).unwrap();
    let ended = goes_on(&case, &reference, "after damage").await;
    ended.says("damaged");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_that_lost_its_end_is_an_earlier_one() {
    let (source, reference) = sqlite().await;
    let case = Case::storm(&source.url(), SLOW);
    let mut child = begun(&case, 1000, &[]);
    child.kill().unwrap();
    child.wait().unwrap();
    let state = case.path(".dynafold/app.state");
    let file = std::fs::OpenOptions::new().write(true).open(state).unwrap();
    let length = file.metadata().unwrap().len();
    file.set_len(length - 10).unwrap();
    goes_on(&case, &reference, "after the end was lost").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_that_cannot_be_kept_is_told_before_anything_is_written() {
    let source = Database::new(&script("sqlite")).await;
    let case = Case::storm(&source.url(), "");
    let in_a_file = case
        .path("app.yaml")
        .join("app.state")
        .display()
        .to_string();
    let nowhere = case.path("nowhere/app.state").display().to_string();
    let no_state = case.path("app.yaml").display().to_string();
    for state in ["/proc/app.state", &in_a_file, &nowhere, &no_state] {
        says(case.migrate(&["--state", state]), 1, &["state", "help"]);
    }
    assert!(
        !case
            .storms()
            .counts()
            .requests
            .contains_key("BatchWriteItem")
    );
}

/// A small file system; `None` where we may not make one.
struct Small<'p>(&'p Path);

impl<'p> Small<'p> {
    fn mount(path: &'p Path) -> Option<Self> {
        std::fs::create_dir_all(path).unwrap();
        let mut command = Command::new("mount");
        let mounted = command
            .args(["-t", "tmpfs", "-o", "size=200k", "tmpfs"])
            .arg(path)
            .output();
        mounted
            .is_ok_and(|mounted| mounted.status.success())
            .then_some(Self(path))
    }

    fn remount(&self, options: &str) {
        let options = format!("remount,{options}");
        let mounted = Command::new("mount")
            .args(["-o", &options])
            .arg(self.0)
            .status();
        assert!(mounted.unwrap().success());
    }
}

impl Drop for Small<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_or_read_only_disk_ends_a_load_that_can_go_on() {
    let (source, reference) = sqlite().await;
    let case = Case::storm(&source.url(), SLOW);
    let folder = case.path(".dynafold");
    let Some(small) = Small::mount(&folder) else {
        not_tested("a full disk", "no file system can be mounted here");
        return;
    };
    let child = begun(&case, 500, &[]);
    let filler = folder.join("filler");
    // It fails when there is no room left.
    let _ = std::fs::write(&filler, vec![0; 1 << 20]);
    says(ran(child), 1, &["disk space"]);
    std::fs::remove_file(&filler).unwrap();
    small.remount("ro");
    says(case.migrate(&[]), 1, &["state", "help"]);
    small.remount("rw,size=10m");
    goes_on(&case, &reference, "after a full disk").await;
}
