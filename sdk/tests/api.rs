//! Public API of the SDK: every public item, one line each, in `api.txt` next to this file. A
//! removed or changed line breaks providers, and needs a new version; an added line does not.
//!
//! The test reads the sources: each `pub` item is reachable from outside, or the compiler warns.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends")]

use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use quote::{ToTokens, quote};
use syn::{Attribute, Fields, ImplItem, Item, TraitItem, Visibility};

#[test]
fn the_public_api_is_listed_in_its_file() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    collect(&root, &mut files);
    files.sort();
    // The implementers of the traits in these are invisible outside.
    let inside = ["erased", "server"].map(|name| root.join(name));
    files.retain(|file| {
        !inside.iter().any(|name| file.starts_with(name) || *file == name.with_extension("rs"))
    });
    let mut text = String::new();
    for file in files {
        let source = syn::parse_file(&fs::read_to_string(&file).unwrap()).unwrap();
        let mut lines = Vec::new();
        source.items.iter().for_each(|item| describe(item, &mut lines));
        if !lines.is_empty() {
            let name = file.strip_prefix(&root).unwrap().display().to_string();
            text.push_str(&format!("{name}\n"));
            lines.iter().for_each(|line| text.push_str(&format!("    {line}\n")));
        }
    }
    expect_file!["api.txt"].assert_eq(&text);
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs")
            && !path.ends_with("tests.rs")
        {
            files.push(path);
        }
    }
}

/// The lines of an item, if it is public.
fn describe(item: &Item, lines: &mut Vec<String>) {
    match item {
        Item::Struct(node) if is_public(&node.vis) => {
            let (name, generics) = (&node.ident, &node.generics);
            let bounds = &node.generics.where_clause;
            lines.push(item_line(&node.attrs, &quote!(struct #name #generics #bounds)));
            let fields = match &node.fields {
                Fields::Named(fields) => fields.named.iter().collect(),
                Fields::Unnamed(fields) => fields.unnamed.iter().collect(),
                Fields::Unit => Vec::new(),
            };
            for field in fields.into_iter().filter(|field| is_public(&field.vis)) {
                let (field_name, ty) = (&field.ident, &field.ty);
                lines.push(format!("{name}.{}", item_line(&[], &quote!(#field_name: #ty))));
            }
        }
        Item::Enum(node) if is_public(&node.vis) => {
            let (name, generics, variants) = (&node.ident, &node.generics, &node.variants);
            let variants = variants.iter().map(|variant| {
                let (name, fields) = (&variant.ident, &variant.fields);
                quote!(#name #fields)
            });
            lines.push(item_line(&node.attrs, &quote!(enum #name #generics { #(#variants),* })));
        }
        Item::Trait(node) if is_public(&node.vis) => {
            let (name, generics, supertraits) = (&node.ident, &node.generics, &node.supertraits);
            lines.push(item_line(&node.attrs, &quote!(trait #name #generics: #supertraits)));
            for item in &node.items {
                let line = match item {
                    TraitItem::Fn(node) => {
                        // Without a body, every provider must write the method, so that is part of
                        // the API.
                        let has_body = node.default.as_ref().map(|_| quote!({}));
                        let signature = &node.sig;
                        quote!(#signature #has_body)
                    }
                    TraitItem::Type(node) => without_docs(node, |node| node.attrs.clear()),
                    TraitItem::Const(node) => without_docs(node, |node| node.attrs.clear()),
                    _ => continue,
                };
                lines.push(format!("{name}::{}", item_line(&[], &line)));
            }
        }
        Item::Fn(node) if is_public(&node.vis) => lines.push(item_line(&[], &node.sig)),
        Item::Type(node) if is_public(&node.vis) => {
            lines.push(item_line(&[], &without_docs(node, |node| node.attrs.clear())));
        }
        Item::Const(node) if is_public(&node.vis) => {
            lines.push(item_line(&[], &without_docs(node, |node| node.attrs.clear())));
        }
        Item::Use(node) if is_public(&node.vis) => lines.push(item_line(&[], node)),
        Item::Mod(node) if is_public(&node.vis) => {
            let name = &node.ident;
            lines.push(format!("mod {name}"));
            let inside = node.content.iter().flat_map(|(_, items)| items);
            inside.for_each(|item| describe(item, lines));
        }
        Item::Impl(node) => {
            let (generics, ty) = (&node.generics, &node.self_ty);
            let bounds = &node.generics.where_clause;
            if let Some((_, of, _)) = &node.trait_ {
                lines.push(item_line(&[], &quote!(impl #generics #of for #ty #bounds)));
                // The methods are those of the trait, which is listed where it is defined.
                return;
            }
            for item in &node.items {
                match item {
                    ImplItem::Fn(node) if is_public(&node.vis) => {
                        let signature = &node.sig;
                        lines.push(item_line(&[], &quote!(impl #generics #ty: #signature #bounds)));
                    }
                    ImplItem::Const(node) if is_public(&node.vis) => {
                        let (name, of) = (&node.ident, &node.ty);
                        lines.push(item_line(&[], &quote!(impl #generics #ty: const #name: #of)));
                    }
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn without_docs<T: Clone + ToTokens>(item: &T, clear: fn(&mut T)) -> proc_macro2::TokenStream {
    let mut item = item.clone();
    clear(&mut item);
    item.into_token_stream()
}

/// Tokens on one line, with the derived traits and the mark for non-exhaustive items.
fn item_line(attributes: &[Attribute], tokens: &impl ToTokens) -> String {
    let derives = attributes.iter().filter(|attribute| {
        ["derive", "non_exhaustive"].iter().any(|name| attribute.path().is_ident(name))
    });
    let derives: Vec<String> = derives
        .map(|attribute_of_item| attribute_of_item.meta.to_token_stream().to_string())
        .collect();
    let text = tokens.to_token_stream().to_string();
    let text = derives.into_iter().chain([text]).collect::<Vec<_>>().join(" ");
    // Between tokens there are spaces, which are hard to read.
    let tight = [
        (" :: ", "::"),
        (" < ", "<"),
        (" >", ">"),
        (" ,", ","),
        (" : ", ": "),
        ("& ", "&"),
        (" ;", ""),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        ("' ", "'"),
        ("< ", "<"),
        (" :", ":"),
    ];
    tight.iter().fold(text, |text, (from, to)| text.replace(from, to))
}
