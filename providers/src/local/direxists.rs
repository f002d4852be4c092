//! `direxists`: whether a directory exists.

use std::fs;
use std::io::ErrorKind;

use formwork_sdk::prelude::*;

/// Returns whether a directory exists at a path.
///
/// True for a directory and a symbolic link to one, false if the path does not exist. Any other
/// file at the path is an error.
#[derive(Arguments)]
pub(super) struct DirExists {
    /// The path. A relative path starts in the working directory of Terraform.
    path: String,
}

impl Function for DirExists {
    type Result = bool;

    fn call(self) -> Answer<bool> {
        let path = self.path;
        let path_problem =
            |reason: String| Err(Problem::from_detail(format!("{path:?} {reason}")).at("path"));
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_dir() => Ok(true),
            Ok(_) => path_problem("exists, but it is not a directory".to_owned()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => path_problem(format!("cannot be looked at: {error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use formwork_sdk::testing::call_function;
    use formwork_sdk::value::Value;

    use crate::local::provider;

    #[tokio::test]
    async fn a_path_that_is_not_a_directory_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("file"), "").unwrap();
        std::os::unix::fs::symlink(directory.path(), directory.path().join("link")).unwrap();
        let exists = async |name: &str| {
            let path = directory.path().join(name);
            call_function(provider(), "direxists", vec![Value::string(&*path.to_string_lossy())])
                .await
        };
        assert_eq!(exists(".").await, Ok(Value::Bool(true)));
        assert_eq!(exists("link").await, Ok(Value::Bool(true)));
        assert_eq!(exists("nothing").await, Ok(Value::Bool(false)));
        assert!(exists("file").await.unwrap_err().0.contains("argument 1"));
        assert!(exists("file/below").await.unwrap_err().0.contains("cannot be looked at"));
    }
}
