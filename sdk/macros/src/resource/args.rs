//! Arguments of `#[resource(…)]`: a name, the fields that the handlers use, and an expression for
//! each handler.

use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Error, Expr, Ident, Result, Token, Type, parenthesized, token};

/// All arguments.
pub(crate) struct ResourceArgs {
    /// The struct to generate.
    pub(crate) name: Ident,
    /// Fields of the resource, such as the client of a service, by their name in expressions.
    pub(crate) fields: Vec<ResourceStructField>,
    /// The expressions by word.
    expressions: Vec<(Ident, Expr)>,
    pub(crate) ready: Option<WaitArgs>,
    pub(crate) gone: Option<WaitArgs>,
}

/// A field of the resource type's struct, available to handlers.
pub(crate) struct ResourceStructField {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
}

/// A wait, with its condition.
pub(crate) struct WaitArgs {
    /// The word itself.
    pub(crate) word: Ident,
    /// Condition on the object that was found.
    pub(crate) until: Option<Expr>,
    /// The words of a `Wait`, in source order.
    pub(crate) options: Vec<(Ident, Expr)>,
}

const EXPRESSION_ARGUMENTS: [&str; 14] = [
    "create",
    "read",
    "update",
    "delete",
    "validate",
    "modify_plan",
    "import",
    "import_by_identity",
    "upgrade",
    "take_over",
    "version",
    "upgrades",
    "identity_version",
    "identity_upgrades",
];
const WAIT_OPTIONS: [&str; 3] = ["every", "at_most", "doubling_to"];

impl ResourceArgs {
    /// Reads the `#[resource(…)]` among `attributes`, if there is one.
    pub(crate) fn from_attributes_if_any(attributes: &[Attribute]) -> Result<Option<Self>> {
        let mut ours = attributes.iter().filter(|attribute| attribute.path().is_ident("resource"));
        let (first, second) = (ours.next(), ours.next());
        if let Some(second) = second {
            let reason = "a model has one `#[resource(…)]`; write `impl Resource` for another";
            return Err(Error::new_spanned(second.path(), reason));
        }
        first.map(Attribute::parse_args).transpose()
    }

    /// The expression under a word.
    pub(crate) fn find_expression(&self, word: &str) -> Option<&Expr> {
        self.expressions
            .iter()
            .find(|(name_of_expression, _)| name_of_expression == word)
            .map(|(_, expression)| expression)
    }

    fn parse_arg(&mut self, input: ParseStream<'_>) -> Result<()> {
        // Also reserved words, so that a wrong one gets the message below and not one of the
        // parser.
        let word = Ident::parse_any(input)?;
        if word == "ready" || word == "gone" {
            let slot = if word == "ready" { &mut self.ready } else { &mut self.gone };
            if slot.is_some() {
                return Err(duplicate_word_error(&word));
            }
            *slot = Some(WaitArgs::parse(word, input)?);
            return Ok(());
        }
        if !EXPRESSION_ARGUMENTS.iter().any(|argument| word == argument) {
            let arguments = EXPRESSION_ARGUMENTS.join(", ");
            let reason = format!(
                "`{word}` is not a word of `resource`; expected one of {arguments}, ready(…) and \
                 gone(…)"
            );
            return Err(Error::new(word.span(), reason));
        }
        if self.find_expression(&word.to_string()).is_some() {
            return Err(duplicate_word_error(&word));
        }
        input.parse::<Token![=]>()?;
        self.expressions.push((word, input.parse()?));
        Ok(())
    }
}

impl Parse for ResourceArgs {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let (name, fields) = (input.parse()?, parse_struct_fields(input)?);
        let mut args = Self { name, fields, expressions: Vec::new(), ready: None, gone: None };
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            // A comma may also end the list.
            if !input.is_empty() {
                args.parse_arg(input)?;
            }
        }
        Ok(args)
    }
}

/// Arguments in parentheses after the name.
fn parse_struct_fields(input: ParseStream<'_>) -> Result<Vec<ResourceStructField>> {
    if !input.peek(token::Paren) {
        return Ok(Vec::new());
    }
    let content;
    parenthesized!(content in input);
    let parse_field = |input: ParseStream<'_>| {
        let ident = input.parse()?;
        input.parse::<Token![:]>()?;
        Ok(ResourceStructField { ident, ty: input.parse()? })
    };
    let parse_fields = Punctuated::<ResourceStructField, Token![,]>::parse_terminated_with;
    Ok(parse_fields(&content, parse_field)?.into_iter().collect())
}

impl WaitArgs {
    fn parse(word: Ident, input: ParseStream<'_>) -> Result<Self> {
        let mut waiting = Self { word, until: None, options: Vec::new() };
        if !input.peek(token::Paren) {
            return Ok(waiting);
        }
        let content;
        parenthesized!(content in input);
        while !content.is_empty() {
            waiting.parse_condition_or_option(&content)?;
            if !content.is_empty() {
                content.parse::<Token![,]>()?;
            }
        }
        Ok(waiting)
    }

    fn parse_condition_or_option(&mut self, input: ParseStream<'_>) -> Result<()> {
        let is_word =
            // `size == 1` is a condition, `every = …` is not.
            input.peek(Ident::peek_any) && input.peek2(Token![=]) && !input.peek2(Token![==]);
        if !is_word {
            let until: Expr = input.parse()?;
            return match self.until.replace(until) {
                None => Ok(()),
                Some(_) => Err(input.error("give exactly one condition to wait for")),
            };
        }
        let option = Ident::parse_any(input)?;
        if !WAIT_OPTIONS.iter().any(|known| option == known) {
            let (word, options) = (&self.word, WAIT_OPTIONS.join(", "));
            let reason = format!("`{option}` is not a word of `{word}`; expected one of {options}");
            return Err(Error::new(option.span(), reason));
        }
        if self.options.iter().any(|(existing, _)| *existing == option) {
            return Err(duplicate_word_error(&option));
        }
        input.parse::<Token![=]>()?;
        self.options.push((option, input.parse()?));
        Ok(())
    }
}

fn duplicate_word_error(word: &Ident) -> Error {
    Error::new(word.span(), format!("`{word}` is repeated"))
}
