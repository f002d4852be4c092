//! Parameters and results of functions, as both programs describe them.

use serde_json::Value;

use super::engine::{Engine, terraform_is_installed};

#[test]
fn functions_have_the_same_signatures_in_both_programs() {
    if !terraform_is_installed() {
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    let [theirs, ours] = Engine::BOTH.map(|engine| {
        let run = engine.run(dir.path(), None, &["metadata", "functions", "-json"]);
        run.document().unwrap_or_else(|| panic!("{engine:?}: {}", run.stderr))
    });
    assert_eq!(theirs["format_version"], ours["format_version"]);
    let all = |view: &Value| view["function_signatures"].as_object().expect("an object").clone();
    let (theirs, ours) = (all(&theirs), all(&ours));
    let names = |view: &serde_json::Map<String, Value>| view.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&theirs), names(&ours));
    for (name, signature) in &theirs {
        let of_ours = &ours[name];
        assert!(described(of_ours), "{name}: {of_ours}");
        for part in ["parameters", "variadic_parameter"] {
            assert_eq!(undescribed(&signature[part]), undescribed(&of_ours[part]), "{name}");
        }
        // If Terraform leaves the type of the result open, ours may be more precise. Terraform
        // declares a string as the result of a template, although a template can return any type.
        let open = signature["return_type"] == "dynamic" || name.ends_with("templatestring");
        assert!(open || signature["return_type"] == of_ours["return_type"], "{name}: {of_ours}");
    }
}

/// Whether a function and each of its parameters have a description.
fn described(signature: &Value) -> bool {
    let params = signature["parameters"].as_array().into_iter().flatten();
    let rest = signature.get("variadic_parameter");
    let mut all = std::iter::once(signature).chain(params).chain(rest);
    all.all(|item| item["description"].as_str().is_some_and(|text| !text.is_empty()))
}

/// Parameters without their descriptions, which differ between the programs.
fn undescribed(params: &Value) -> Value {
    let mut params = params.clone();
    let list = params.as_array_mut().map(|list| list.iter_mut().collect::<Vec<_>>());
    for param in list.unwrap_or_default() {
        param.as_object_mut().map(|param| param.remove("description"));
    }
    params.as_object_mut().map(|param| param.remove("description"));
    params
}
