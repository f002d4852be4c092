//! What is said along the way: what is read, what is logged, what there is too much of.

use crate::harness::Workdir;

const READING: &str = r#"
data "terraform_remote_state" "other" {
  backend = "local"
  config = {
    path = "other.tfstate"
  }
}
//- other.tfstate
{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"x","outputs":{},"resources":[]}
"#;

#[test]
fn a_data_source_that_is_read_while_planning_is_announced() {
    let workdir = Workdir::new(READING);
    let ended = workdir.formwork("plan").succeed();
    ended.says("data.terraform_remote_state.other: Reading...");
    ended.says("data.terraform_remote_state.other: Read complete after 0s");
    let ended = workdir.formwork("plan -json").succeed();
    for kind in ["apply_start", "apply_complete"] {
        let event =
            ended.stdout.lines().find(|line| line.contains(&format!("\"type\":\"{kind}\"")));
        assert!(
            event.is_some_and(|event| event.contains("\"action\":\"read\"")),
            "{}",
            ended.text()
        );
    }
}
