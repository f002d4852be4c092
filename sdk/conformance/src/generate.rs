//! Configurations generated from a schema: the sets g1 to g6, seeded, so that the same seed
//! generates the same inputs.

use std::sync::LazyLock;

use formwork_value::schema::{Attribute, AttributeKind, Block, NestedBlock, Nesting, Role};
use formwork_value::{Number, Path, Str, Type, Value};

/// A seeded source of numbers (SplitMix64).
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// Returns the source for a seed and the name of its use.
    #[must_use]
    pub fn new(seed: u64, of: &str) -> Self {
        // A small hash (FNV) of the name, so that each name has a sequence of its own.
        let mixed = of.bytes().fold(seed ^ 0x9e37_79b9_7f4a_7c15, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self(mixed)
    }

    /// Returns the next number.
    pub fn next_number(&mut self) -> u64 {
        // SplitMix64, which gives the same sequence on every machine.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`.
    pub fn number_below(&mut self, end: usize) -> usize {
        // A remainder by zero would panic.
        let end = end.max(1) as u64;
        usize::try_from(self.next_number() % end).unwrap_or(0)
    }

    /// Returns one of the items.
    pub fn pick_one<'i, T>(&mut self, items: &'i [T]) -> &'i T {
        &items[self.number_below(items.len())]
    }
}

/// A string that is likely to be legal in an attribute of that name.
#[must_use]
pub fn text_for_attribute(name: &str) -> &'static str {
    const TEXT_BY_NAME_WORD: [(&str, &str); 20] = [
        ("cidr", "10.0.0.0/16"),
        ("subnet", "10.0.0.0/24"),
        ("ip", "10.0.0.1"),
        // Port 9 of this machine, so that no request leaves it.
        ("url", "http://127.0.0.1:9/"),
        ("uri", "http://127.0.0.1:9/"),
        ("endpoint", "http://127.0.0.1:9/"),
        ("email", "conformance@example.com"),
        ("host", "localhost"),
        ("filename", "conformance.txt"),
        ("path", "conformance.txt"),
        ("file", "conformance.txt"),
        ("dir", "conformance"),
        ("rfc3339", "2024-01-02T03:04:05Z"),
        ("time", "2024-01-02T03:04:05Z"),
        ("date", "2024-01-02"),
        ("duration", "1h"),
        ("json", "{}"),
        ("arn", "arn:aws:iam::123456789012:role/conformance"),
        ("base64", "Y29uZm9ybWFuY2U="),
        ("region", "eu-central-1"),
    ];
    // Whole words: `ip` is a part of `description` too.
    let hint = TEXT_BY_NAME_WORD.iter().find(|(part, _)| name.split('_').any(|word| word == *part));
    // An object whose end is in the past has expired, and a provider may plan to renew it.
    let is_end = name.split('_').any(|word| END_TIME_WORDS.contains(&word));
    match hint.map_or("conformance", |(_, text)| text) {
        "2024-01-02T03:04:05Z" if is_end => "2099-01-02T03:04:05Z",
        "2024-01-02" if is_end => "2099-01-02",
        text => text,
    }
}

/// Words in attribute names of end times.
const END_TIME_WORDS: [&str; 6] = ["end", "expiration", "expire", "expires", "expiry", "until"];

/// Strings to try where a configuration was refused.
pub const ALTERNATIVE_STRINGS: [&str; 14] = [
    "a",
    "conformance",
    "1",
    "0",
    "true",
    "http://127.0.0.1:9/",
    "10.0.0.0/16",
    "10.0.0.1",
    "2024-01-02T03:04:05Z",
    "1h",
    "{}",
    // For attributes such as `algorithm` of `tls_private_key`.
    "RSA",
    "conformance.txt",
    "Y29uZm9ybWFuY2U=",
];

/// Numbers to try likewise.
pub const ALTERNATIVE_NUMBERS: [i64; 7] = [1, 2, 8, 16, 80, 2048, 0];

/// Extent to which a block is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigExtent {
    /// Nothing: g1.
    Nothing,
    /// Required attributes only: g2.
    Required,
    /// Everything that can be set: g3.
    All,
    /// Everything that can be set is unknown: g4.
    Unknown,
    /// Random: g6.
    Random,
    /// Random, with numbers that every provider can hold, as objects that a provider stored.
    Stored,
}

impl ConfigExtent {
    fn is_random(self) -> bool {
        matches!(self, Self::Random | Self::Stored)
    }
}

/// Generates a configuration of a block.
pub fn generate_config(block: &Block, extent: ConfigExtent, dice: &mut Dice) -> Value {
    generate_block(block, extent, dice, 0)
}

fn generate_block(block: &Block, extent: ConfigExtent, dice: &mut Dice, depth: usize) -> Value {
    let attributes = block.attributes.iter().map(|(name, attribute)| {
        (name.clone(), generate_attribute(name, attribute, extent, dice, depth))
    });
    let mut pairs: Vec<(Str, Value)> = attributes.collect();
    for (name, nested) in &block.blocks {
        pairs.push((name.clone(), generate_nested_blocks(nested, extent, dice, depth)));
    }
    Value::object(pairs)
}

fn generate_attribute(
    name: &str,
    attribute: &Attribute,
    extent: ConfigExtent,
    dice: &mut Dice,
    depth: usize,
) -> Value {
    let ty = attribute.implied_type();
    let required = attribute.role == Role::Required;
    let set = attribute.role.is_settable()
        && match extent {
            ConfigExtent::Nothing => false,
            ConfigExtent::Required => required,
            // A deprecated attribute usually excludes its successor.
            ConfigExtent::All => required || !attribute.docs.deprecated,
            ConfigExtent::Unknown => true,
            ConfigExtent::Random | ConfigExtent::Stored => required || dice.number_below(2) == 0,
        };
    if !set {
        return Value::null(ty);
    }
    if extent == ConfigExtent::Unknown {
        return Value::unknown(ty);
    }
    match &attribute.kind {
        AttributeKind::Plain(ty) => generate_value(name, ty, extent, dice),
        AttributeKind::Nested(nested) => {
            let block = Block { attributes: nested.attributes.clone(), ..Block::default() };
            let object = block.implied_type();
            // In deep schemas, everything inside everything would grow without end.
            let inner = if depth > 4 { ConfigExtent::Required } else { extent };
            let mut block_value = || generate_block(&block, inner, dice, depth + 1);
            match nested.nesting {
                Nesting::Single | Nesting::Group => block_value(),
                Nesting::List => Value::list(object, vec![block_value()]),
                Nesting::Set => Value::set(object, vec![block_value()]),
                Nesting::Map => Value::map(object, [("key", block_value())]),
            }
        }
    }
}

fn generate_nested_blocks(
    nested: &NestedBlock,
    extent: ConfigExtent,
    dice: &mut Dice,
    depth: usize,
) -> Value {
    // A schema may demand any number of blocks.
    let minimum = usize::try_from(nested.min_items).unwrap_or(1).min(3);
    let number = match extent {
        ConfigExtent::Nothing => 0,
        ConfigExtent::Required => minimum,
        ConfigExtent::All | ConfigExtent::Unknown => minimum.max(1),
        ConfigExtent::Random | ConfigExtent::Stored => minimum + dice.number_below(2),
    };
    // A computed block is filled by the provider.
    if number == 0 || depth > 4 || (nested.computed && minimum == 0) {
        return nested.empty_value();
    }
    let mut block = || generate_block(&nested.block, extent, dice, depth + 1);
    match nested.nesting {
        Nesting::Single | Nesting::Group => block(),
        Nesting::List | Nesting::Set => {
            let blocks = (0..number).map(|_| block()).collect();
            nested.to_list_or_set_value(blocks)
        }
        Nesting::Map => nested.to_keyed_collection_value(vec![("key".into(), block())]),
    }
}

/// Generates a value of a type.
pub fn generate_value(name: &str, ty: &Type, extent: ConfigExtent, dice: &mut Dice) -> Value {
    let random = extent.is_random();
    match ty {
        Type::Bool => Value::Bool(!random || dice.number_below(2) == 0),
        Type::Number if extent == ConfigExtent::Random => generate_number(dice),
        Type::Number if random => Value::int(7),
        Type::Number => Value::int(1),
        Type::String if random => Value::String(generate_text(name, dice)),
        Type::String | Type::Dynamic => Value::string(text_for_attribute(name)),
        Type::List(element) => {
            let elements = generate_elements(name, element, extent, dice);
            Value::list((**element).clone(), elements)
        }
        Type::Set(element) => {
            let elements = generate_elements(name, element, extent, dice);
            Value::set((**element).clone(), elements)
        }
        Type::Map(element) => {
            let elements = generate_elements(name, element, extent, dice).into_iter().enumerate();
            let pairs: Vec<_> =
                elements.map(|(index, item)| (format!("key{index}"), item)).collect();
            Value::map((**element).clone(), pairs)
        }
        Type::Tuple(parts) => Value::tuple(
            parts.iter().map(|part| generate_value(name, part, extent, dice)).collect(),
        ),
        Type::Object(object) => {
            let parts = object.attributes.iter();
            Value::object(
                parts
                    .map(|(attribute_name, part)| {
                        (attribute_name.clone(), generate_value(attribute_name, part, extent, dice))
                    })
                    .collect::<Vec<_>>(),
            )
        }
    }
}

fn generate_elements(name: &str, ty: &Type, extent: ConfigExtent, dice: &mut Dice) -> Vec<Value> {
    let number = match extent {
        ConfigExtent::Random | ConfigExtent::Stored => *dice.pick_one(&[0, 1, 2, 17]),
        _ => 1,
    };
    (0..number).map(|_| generate_value(name, ty, extent, dice)).collect()
}

/// A string at random: usual, empty, long, and in both normal forms.
fn generate_text(name: &str, dice: &mut Dice) -> Str {
    match dice.number_below(10) {
        0 => Str::new(""),
        // Two, three and four bytes in UTF-8.
        1 => "\u{e9}\u{4e16}\u{1f600}".into(),
        // Decomposed on purpose.
        2 => "e\u{301}".into(),
        3 => LONG_STRING.clone(),
        // Template sequences of the language, which must not be evaluated.
        4 => "line\nbreak\t\"quote\" ${not} %{this}".into(),
        5 => format!("conformance-{}", dice.number_below(1_000_000)).into(),
        6 => (*dice.pick_one(&ALTERNATIVE_STRINGS)).into(),
        _ => text_for_attribute(name).into(),
    }
}

/// A long string, which many kept configurations share.
static LONG_STRING: LazyLock<Str> = LazyLock::new(|| "x".repeat(64 * 1024).into());

fn generate_number(dice: &mut Dice) -> Value {
    const EDGE_NUMBERS: [&str; 9] = [
        "0",
        "1",
        "-1",
        // A double does not hold it exactly.
        "9007199254740993",
        "1e-30",
        // Beyond 128 bits.
        "10000000000000000000000000000000000000000",
        "0.1",
        "-9223372036854775808",
        "65536",
    ];
    let text: &str = EDGE_NUMBERS[dice.number_below(EDGE_NUMBERS.len())];
    Number::parse(text).map_or_else(|| Value::int(0), Value::Number)
}

/// The paths of attributes that a configuration may set, in this value: attributes of the block and
/// of its present nested blocks. Elements of sets have no path.
#[must_use]
pub fn settable_paths(block: &Block, value: &Value) -> Vec<(Path, Attribute)> {
    let mut paths = Vec::new();
    collect_attribute_paths(block, value, &Path::root(), &mut paths);
    paths
}

fn collect_attribute_paths(
    block: &Block,
    value: &Value,
    parent_path: &Path,
    paths: &mut Vec<(Path, Attribute)>,
) {
    for (name, attribute) in &block.attributes {
        if attribute.role.is_settable() {
            paths.push((parent_path.attribute(name.clone()), attribute.clone()));
        }
    }
    for (name, nested) in &block.blocks {
        let path = parent_path.attribute(name.clone());
        let Some(part) = Path::root().attribute(name.clone()).find(value) else {
            continue;
        };
        match nested.nesting {
            Nesting::Single | Nesting::Group if !part.is_null() && !part.is_unknown() => {
                collect_attribute_paths(&nested.block, part, &path, paths);
            }
            Nesting::List | Nesting::Map => {
                for (index, child) in part.children().iter().enumerate() {
                    if let Some(step) = part.step_to_child(index) {
                        collect_attribute_paths(&nested.block, child, &path.with_step(step), paths);
                    }
                }
            }
            // No path leads into an element of a set.
            _ => {}
        }
    }
}

/// Returns the value with another part at a path.
#[must_use]
pub fn replace_part(value: &Value, path: &Path, part: Value) -> Option<Value> {
    value.replace_at(path, |_| part)
}

/// Fills the unknown parts of a planned value as an apply would.
#[must_use]
pub fn fill_unknown_parts(block: &Block, planned: &Value, dice: &mut Dice) -> Value {
    let mut value = planned.clone();
    // Stopped where no change is possible: no path leads to an element of a set.
    for _ in 0..1_000 {
        let mut first: Option<(Path, Type)> = None;
        value.walk(&mut |path, part| {
            if first.is_none() && part.is_unknown() {
                first = Some((path.clone(), part.ty()));
            }
            first.is_none() && !part.is_wholly_known()
        });
        let Some((path, ty)) = first else { break };
        let name = match path.0.last() {
            Some(formwork_value::Step::Attribute(name)) => name.as_str().to_owned(),
            _ => String::new(),
        };
        // A string is as good as any other type.
        let ty = if ty == Type::Dynamic { Type::String } else { ty };
        // Write-only attributes are null in plans and states.
        let is_write_only = block.attribute_at(&path).is_some_and(|(it, _)| it.write_only);
        let part = match is_write_only {
            true => Value::null(ty),
            false => generate_value(&name, &ty, ConfigExtent::Required, dice),
        };
        match replace_part(&value, &path, part) {
            Some(next) if next != value => value = next,
            _ => break,
        }
    }
    value
}

/// Smaller values to try instead of one that breaks a rule, the smallest steps last.
#[must_use]
pub fn smaller_values(block: &Block, value: &Value) -> Vec<Value> {
    let mut candidates = Vec::new();
    for (path, attribute) in settable_paths(block, value) {
        let Some(part) = path.find(value) else { continue };
        // Without a required attribute, another rule would refuse the smaller value.
        if part.is_null() || attribute.role == Role::Required {
            continue;
        }
        candidates.extend(replace_part(value, &path, Value::null(part.ty())));
    }
    for (name, nested) in &block.blocks {
        let path = Path::root().attribute(name.clone());
        let is_set =
            path.find(value).is_some_and(|nested_value| *nested_value != nested.empty_value());
        // With fewer blocks than the schema demands, another rule would refuse it.
        if is_set && nested.min_items == 0 {
            candidates.extend(replace_part(value, &path, nested.empty_value()));
        }
    }
    for (path, _) in settable_paths(block, value) {
        match path.find(value) {
            Some(Value::String(text)) if text.as_str().len() > 12 => {
                candidates.extend(replace_part(value, &path, Value::string("a")));
            }
            Some(Value::List(list)) if list.items().len() > 1 => {
                let first_only = vec![list.items()[0].clone()];
                let part = Value::list(list.element_type().clone(), first_only);
                candidates.extend(replace_part(value, &path, part));
            }
            _ => {}
        }
    }
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block() -> Block {
        let mut block = Block::default();
        let mut add = |name: &str, ty: Type, role: Role| {
            block.attributes.insert(name.into(), Attribute::new(ty, role));
        };
        add("name", Type::String, Role::Required);
        add("size", Type::Number, Role::Optional);
        add("tags", Type::map(Type::String), Role::Optional);
        add("id", Type::String, Role::Computed);
        block
    }

    #[test]
    fn the_end_of_a_generated_object_is_in_the_future() {
        for (name, text) in [
            ("validity_end_time", "2099-01-02T03:04:05Z"),
            ("expiration_date", "2099-01-02"),
            ("start_time", "2024-01-02T03:04:05Z"),
            ("endpoint", "http://127.0.0.1:9/"),
        ] {
            assert_eq!(text_for_attribute(name), text, "{name}");
        }
    }

    #[test]
    fn equal_seeds_produce_equal_inputs() {
        let make =
            |seed| generate_config(&block(), ConfigExtent::Random, &mut Dice::new(seed, "x"));
        assert_eq!(make(7), make(7));
        // Some seeds may give the same by chance.
        assert!((0..20).any(|seed| make(seed) != make(7)));
    }

    #[test]
    fn every_input_has_the_type_of_its_schema_and_sets_nothing_computed() {
        let ty = block().implied_type();
        for extent in [
            ConfigExtent::Nothing,
            ConfigExtent::Required,
            ConfigExtent::All,
            ConfigExtent::Unknown,
            ConfigExtent::Random,
        ] {
            let config = generate_config(&block(), extent, &mut Dice::new(1, "x"));
            assert!(config.has_type(&ty), "{extent:?}: {config:?}");
            assert!(Path::root().attribute("id").find(&config).unwrap().is_null());
        }
    }

    #[test]
    fn each_smaller_input_omits_one_part() {
        let config = generate_config(&block(), ConfigExtent::All, &mut Dice::new(1, "x"));
        let nulls = |value: &Value| value.children().iter().filter(|it| it.is_null()).count();
        let smaller = smaller_values(&block(), &config);
        // Only the two optional attributes can be left out.
        assert_eq!(smaller.len(), 2);
        assert!(smaller.iter().all(|it| nulls(it) == nulls(&config) + 1));
    }
}
