//! Types as `type` prints them: on several lines if they have parts. The format is similar to that of type
//! constraints, but not the same.

use formwork_value::Type;

/// The text for a type.
pub(super) fn type_name(ty: &Type) -> String {
    let mut out = String::new();
    write_type_name(&mut out, ty, 0);
    out
}

fn write_type_name(out: &mut String, ty: &Type, indent: usize) {
    let line = |out: &mut String, indent: usize| {
        out.push('\n');
        out.push_str(&"    ".repeat(indent));
    };
    let element = |out: &mut String, name: &str, element: &Type| {
        out.push_str(name);
        out.push('(');
        if stays_on_one_line(element) {
            write_type_name(out, element, indent);
        } else {
            line(out, indent + 1);
            write_type_name(out, element, indent + 1);
            out.push(',');
            line(out, indent);
        }
        out.push(')');
    };
    match ty {
        Type::Dynamic => out.push_str("dynamic"),
        Type::Bool => out.push_str("bool"),
        Type::Number => out.push_str("number"),
        Type::String => out.push_str("string"),
        Type::List(of) => element(out, "list", of),
        Type::Set(of) => element(out, "set", of),
        Type::Map(of) => element(out, "map", of),
        Type::Tuple(elements) if elements.is_empty() => out.push_str("tuple([])"),
        Type::Tuple(elements) => {
            out.push_str("tuple([");
            for element in elements.iter() {
                line(out, indent + 1);
                write_type_name(out, element, indent + 1);
                out.push(',');
            }
            line(out, indent);
            out.push_str("])");
        }
        Type::Object(object) if object.attributes.is_empty() => out.push_str("object({})"),
        Type::Object(object) => {
            out.push_str("object({");
            for (name, ty) in &object.attributes {
                line(out, indent + 1);
                out.push_str(&format!("{name}: "));
                write_type_name(out, ty, indent + 1);
                out.push(',');
            }
            line(out, indent);
            out.push_str("})");
        }
    }
}

/// Whether a type stays on the line of the type that contains it.
fn stays_on_one_line(ty: &Type) -> bool {
    !matches!(ty, Type::Tuple(_) | Type::Object(_))
}

#[cfg(test)]
mod tests {
    use formwork_value::Str;

    use super::*;

    #[test]
    fn types_with_parts_are_printed_on_several_lines() {
        let object = Type::object([
            (Str::new("a"), Type::Number),
            (Str::new("b c"), Type::list(Type::Bool)),
        ]);
        expect_test::expect![[r#"
            set(
                object({
                    a: number,
                    b c: list(bool),
                }),
            )"#]]
        .assert_eq(&type_name(&Type::set(object)));
        assert_eq!(type_name(&Type::tuple(Vec::new())), "tuple([])");
    }
}
