//! Decodes MessagePack to values of a type. The input is not trusted: every length is checked against
//! the remaining bytes before memory is allocated.

use super::{DecodeError, NIL_CODE, refinement, type_json, utf8_lossy_like_go};
use crate::ty::ObjectType;
use crate::value::{Map, Object, Tuple};
use crate::{Number, Step, Str, Type, Value};
use std::borrow::Cow;
use std::sync::Arc;

/// Maximum number of elements for which memory is reserved before they are read.
const MAX_PREALLOCATED_ELEMENTS: usize = 4096;

/// The remaining bytes.
pub(super) struct MsgpackReader<'b> {
    rest: &'b [u8],
    /// Whether a string was not valid UTF-8.
    pub(super) replaced: bool,
}

impl<'b> MsgpackReader<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        Self { rest: bytes, replaced: false }
    }

    /// Reads a value that is nested `depth` levels inside the outermost one.
    pub(super) fn read_value(&mut self, ty: &Type, depth: u16) -> Result<Value, DecodeError> {
        if depth > Value::MAX_DEPTH {
            return Err(DecodeError::new("the value is nested too deep"));
        }
        match self.peek()? {
            // Checked before the type: a null has the same byte everywhere, even where a type would come
            // first.
            NIL_CODE => {
                self.read_byte()?;
                Ok(Value::null(ty.clone()))
            }
            0xc7..=0xc9 | 0xd4..=0xd8 => self.read_unknown(ty),
            _ => match ty {
                Type::Dynamic => self.read_dynamic(depth),
                Type::Bool => self.read_bool().map(Value::Bool),
                Type::Number => self.read_number().map(Value::Number),
                Type::String => Ok(Value::String(Str::new(&self.read_text()?))),
                Type::List(element) => self.read_list(element, depth),
                Type::Set(element) => self.read_set(element, depth),
                Type::Map(element) => self.read_map(element, depth),
                Type::Tuple(elements) => self.read_tuple(elements, depth),
                Type::Object(shape) => self.read_object(shape, depth),
            },
        }
    }

    fn read_unknown(&mut self, ty: &Type) -> Result<Value, DecodeError> {
        let length = match self.read_byte()? {
            0xc7 => self.read_uint(1)?,
            0xc8 => self.read_uint(2)?,
            0xc9 => self.read_uint(4)?,
            // The only other codes that lead here are those of the five fixed lengths.
            code => 1 << (code - 0xd4),
        };
        let kind = self.read_byte()?;
        let payload = self.take_bytes(usize::try_from(length).unwrap_or(usize::MAX))?;
        // A payload this short is a wholly unknown value in cty, independent of the extension type.
        if payload.len() <= 1 {
            return Ok(Value::unknown(ty.clone()));
        }
        match (kind, ty) {
            // Without a type, refinements are meaningless.
            (refinement::REFINED_EXTENSION_TYPE, Type::Dynamic) => Ok(Value::dynamic()),
            (refinement::REFINED_EXTENSION_TYPE, _) => {
                refinement::read_refined_unknown(payload, ty)
            }
            _ => Err(DecodeError::new(format!("unsupported extension type {kind}"))),
        }
    }

    /// Reads a value with its own type before it.
    fn read_dynamic(&mut self, depth: u16) -> Result<Value, DecodeError> {
        let ty = self.read_type_of_dynamic()?;
        // The type counts as a level, so that values of any type inside each other cannot escape
        // the limit.
        self.read_value(&ty, depth + 1)
    }

    fn read_type_of_dynamic(&mut self) -> Result<Type, DecodeError> {
        if self.read_array_header() != Ok(2) {
            return Err(DecodeError::new("a dynamically typed value must include its type"));
        }
        type_json::decode(self.read_bytes()?)
            .map_err(|error| DecodeError::new(format!("invalid type: {}", error.reason)))
    }

    // Each kind of collection has its own small function, so that deep nesting takes little stack.

    fn read_list(&mut self, element: &Type, depth: u16) -> Result<Value, DecodeError> {
        let length =
            self.read_array_header().map_err(|error| type_required_error("a list", error))?;
        let mut items = Vec::with_capacity(length.min(MAX_PREALLOCATED_ELEMENTS));
        for at in 0..length {
            match self.read_value(element, depth + 1) {
                Ok(item) => items.push(item),
                Err(error) => return Err(error.prepend_step(Step::Index(at.into()))),
            }
        }
        Ok(Value::list(element.clone(), items))
    }

    fn read_set(&mut self, element: &Type, depth: u16) -> Result<Value, DecodeError> {
        let length =
            self.read_array_header().map_err(|error| type_required_error("a set", error))?;
        let mut items = Vec::with_capacity(length.min(MAX_PREALLOCATED_ELEMENTS));
        for _ in 0..length {
            // An element of a set has no index, so the path of an error ends at the set.
            items.push(self.read_value(element, depth + 1)?);
        }
        Ok(Value::set(element.clone(), items))
    }

    fn read_map(&mut self, element: &Type, depth: u16) -> Result<Value, DecodeError> {
        let length = self.read_map_header().map_err(|error| type_required_error("a map", error))?;
        let mut pairs = Vec::with_capacity(length.min(MAX_PREALLOCATED_ELEMENTS));
        for _ in 0..length {
            let key = Str::new(&self.read_text()?);
            match self.read_value(element, depth + 1) {
                Ok(item) => pairs.push((key, item)),
                Err(error) => return Err(error.prepend_step(Step::Key(key))),
            }
        }
        Ok(Value::Map(Map::new(element.clone(), pairs)))
    }

    fn read_tuple(&mut self, elements: &[Type], depth: u16) -> Result<Value, DecodeError> {
        self.read_tuple_header(elements.len())?;
        let mut items = Vec::with_capacity(elements.len());
        for (at, ty) in elements.iter().enumerate() {
            match self.read_value(ty, depth + 1) {
                Ok(item) => items.push(item),
                Err(error) => return Err(error.prepend_step(Step::Index(at.into()))),
            }
        }
        Ok(Value::Tuple(Tuple::new(items)))
    }

    fn read_tuple_header(&mut self, wanted: usize) -> Result<(), DecodeError> {
        match self.read_array_header() {
            Ok(length) if length == wanted => Ok(()),
            // Data that end here do not determine the length.
            Err(error) if error == truncated_error() => Err(error),
            _ => Err(DecodeError::new(format!("a tuple of length {wanted} is required"))),
        }
    }

    fn read_object(&mut self, shape: &ObjectType, depth: u16) -> Result<Value, DecodeError> {
        let names = self.read_object_header(shape)?;
        let mut items = Vec::with_capacity(names.len().min(MAX_PREALLOCATED_ELEMENTS));
        for (name, ty) in &shape.attributes {
            let before = self.rest;
            // Names are in normal form, so equal bytes are also in normal form.
            if self.read_bytes()? != name.as_str().as_bytes() {
                // The name is read again there, now looked up among all names.
                self.rest = before;
                return self.read_unsorted_object(shape, names, items, depth);
            }
            match self.read_value(ty, depth + 1) {
                Ok(item) => items.push(item),
                Err(error) => return Err(error.prepend_step(Step::Attribute(name.clone()))),
            }
        }
        Ok(Value::Object(Object::with_names(names, items)))
    }

    /// Reads the rest of an object with unsorted attributes, which is rare, because writers sort them.
    /// `sorted` contains those at their expected position.
    fn read_unsorted_object(
        &mut self,
        shape: &ObjectType,
        names: Arc<[Str]>,
        sorted: Vec<Value>,
        depth: u16,
    ) -> Result<Value, DecodeError> {
        let n_sorted = sorted.len();
        let mut items: Vec<Option<Value>> = sorted.into_iter().map(Some).collect();
        items.resize(names.len(), None);
        for _ in n_sorted..names.len() {
            let at = self.read_attribute_position(&names)?;
            match self.read_value(&shape.attributes[&names[at]], depth + 1) {
                Ok(item) if items[at].is_none() => items[at] = Some(item),
                Ok(_) => return Err(duplicate_name_error(&names[at])),
                Err(error) => return Err(error.prepend_step(Step::Attribute(names[at].clone()))),
            }
        }
        // The number equals that of the names, without duplicates, so all are present.
        Ok(Value::Object(Object::with_names(names, items.into_iter().flatten().collect())))
    }

    fn read_object_header(&mut self, shape: &ObjectType) -> Result<Arc<[Str]>, DecodeError> {
        let wanted = shape.attributes.len();
        let length =
            self.read_map_header().map_err(|error| type_required_error("an object", error))?;
        if length != wanted {
            return Err(DecodeError::new(format!(
                "an object with {wanted} attributes is required ({length} given)"
            )));
        }
        Ok(shape.names())
    }

    /// Reads the name of an attribute and returns its position among `names`.
    fn read_attribute_position(&mut self, names: &[Str]) -> Result<usize, DecodeError> {
        let raw = self.read_text()?;
        let unsupported = |_| DecodeError::new(format!("unsupported attribute {raw:?}"));
        // Names are compared in normal form, because the bytes of a writer may not be normalized.
        names.binary_search(&Str::new(&raw)).map_err(unsupported)
    }

    /// Reads true or false.
    pub(super) fn read_bool(&mut self) -> Result<bool, DecodeError> {
        match self.peek()? {
            code @ (0xc2 | 0xc3) => {
                self.read_byte()?;
                Ok(code == 0xc3)
            }
            _ => Err(DecodeError::new("bool is required")),
        }
    }

    /// Reads a number in any of its forms.
    pub(super) fn read_number(&mut self) -> Result<Number, DecodeError> {
        let required = || DecodeError::new("number is required");
        match self.peek()? {
            code @ 0x00..=0x7f => {
                self.read_byte()?;
                Ok(Number::from(i64::from(code)))
            }
            code @ 0xe0..=0xff => {
                self.read_byte()?;
                Ok(Number::from(i64::from(code.cast_signed())))
            }
            code @ 0xcc..=0xcf => {
                self.read_byte()?;
                Ok(Number::from(self.read_uint(1 << (code - 0xcc))?))
            }
            code @ 0xd0..=0xd3 => {
                self.read_byte()?;
                let n_bytes = 1 << (code - 0xd0);
                let bits = self.read_uint(n_bytes)?.cast_signed();
                // Moves the sign bit of the short form to the top and back down.
                let unused = 64 - 8 * u32::from(n_bytes);
                Ok(Number::from((bits << unused) >> unused))
            }
            0xca => {
                self.read_byte()?;
                let bits = u32::try_from(self.read_uint(4)?).unwrap_or(u32::MAX);
                Number::from_f64(f64::from(f32::from_bits(bits))).ok_or_else(required)
            }
            0xcb => {
                self.read_byte()?;
                let float = f64::from_bits(self.read_uint(8)?);
                Number::from_f64(float).ok_or_else(required)
            }
            _ => {
                // Numbers that fit neither an integer nor a float exactly are sent as strings.
                let text = self.read_text().map_err(|_| required())?;
                Number::parse(&text).ok_or_else(required)
            }
        }
    }

    /// Reads a string without normalization.
    pub(super) fn read_text(&mut self) -> Result<Cow<'b, str>, DecodeError> {
        let text = utf8_lossy_like_go(self.read_bytes()?);
        // Only a string with invalid bytes was copied.
        self.replaced |= matches!(text, Cow::Owned(_));
        Ok(text)
    }

    /// Reads a string or bytes as one kind, because other writers use both.
    fn read_bytes(&mut self) -> Result<&'b [u8], DecodeError> {
        let length = match self.peek()? {
            code @ 0xa0..=0xbf => {
                self.read_byte()?;
                u64::from(code & 0x1f)
            }
            code @ (0xd9..=0xdb | 0xc4..=0xc6) => {
                self.read_byte()?;
                self.read_uint(match code {
                    0xd9 | 0xc4 => 1,
                    0xda | 0xc5 => 2,
                    _ => 4,
                })?
            }
            _ => return Err(DecodeError::new("string is required")),
        };
        self.take_bytes(usize::try_from(length).unwrap_or(usize::MAX))
    }

    /// Skips a value of any kind, and returns its bytes.
    pub(super) fn skip_value(&mut self) -> Result<&'b [u8], DecodeError> {
        let start = self.rest;
        let mut pending = 1_usize;
        while pending > 0 {
            pending -= 1;
            // Each takes at least one byte, so this never exceeds the remaining bytes.
            pending += self.skip_header()?;
            if pending > self.rest.len() {
                return Err(truncated_error());
            }
        }
        Ok(&start[..start.len() - self.rest.len()])
    }

    /// Skips the header of a value, and returns the number of values inside it.
    fn skip_header(&mut self) -> Result<usize, DecodeError> {
        let length = match self.peek()? {
            0x80..=0x8f | 0xde | 0xdf => return Ok(self.read_map_header()?.saturating_mul(2)),
            0x90..=0x9f | 0xdc | 0xdd => return self.read_array_header(),
            0xa0..=0xbf | 0xd9..=0xdb | 0xc4..=0xc6 => {
                self.read_bytes()?;
                return Ok(0);
            }
            code @ 0xc7..=0xc9 => {
                self.read_byte()?;
                self.read_uint(1 << (code - 0xc7))?.saturating_add(1)
            }
            // The code of an extension is followed by its type.
            code @ 0xd4..=0xd8 => 2 + (1 << (code - 0xd4)),
            0xcc | 0xd0 => 2,
            0xcd | 0xd1 => 3,
            0xca | 0xce | 0xd2 => 5,
            0xcb | 0xcf | 0xd3 => 9,
            _ => 1,
        };
        self.take_bytes(usize::try_from(length).unwrap_or(usize::MAX))?;
        Ok(0)
    }

    /// Reads the header of an array.
    pub(super) fn read_array_header(&mut self) -> Result<usize, DecodeError> {
        self.read_header_length(0x90, 0xdc, 1)
    }

    /// Reads the header of a map.
    pub(super) fn read_map_header(&mut self) -> Result<usize, DecodeError> {
        self.read_header_length(0x80, 0xde, 2)
    }

    /// Reads a header. `short` is the code with the length in its low half, and `long` the code with the
    /// length in two bytes after it. Each entry takes at least `least` bytes.
    fn read_header_length(
        &mut self,
        short: u8,
        long: u8,
        least: usize,
    ) -> Result<usize, DecodeError> {
        let code = self.peek()?;
        if code & 0xf0 != short && code != long && code != long + 1 {
            return Err(DecodeError::new("a list or map is required"));
        }
        self.read_byte()?;
        let length = match code {
            code if code & 0xf0 == short => u64::from(code & 0x0f),
            code => self.read_uint(if code == long { 2 } else { 4 })?,
        };
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        // A length that exceeds the remaining bytes must not determine the allocated size.
        if length.saturating_mul(least) > self.rest.len() {
            return Err(truncated_error());
        }
        Ok(length)
    }

    /// Reads a big-endian number of at most eight bytes.
    fn read_uint(&mut self, n_bytes: u8) -> Result<u64, DecodeError> {
        let bytes = self.take_bytes(usize::from(n_bytes))?;
        Ok(bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn peek(&self) -> Result<u8, DecodeError> {
        self.rest.first().copied().ok_or_else(truncated_error)
    }

    fn read_byte(&mut self) -> Result<u8, DecodeError> {
        let (first, rest) = self.rest.split_first().ok_or_else(truncated_error)?;
        self.rest = rest;
        Ok(*first)
    }

    fn take_bytes(&mut self, length: usize) -> Result<&'b [u8], DecodeError> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or_else(truncated_error)?;
        self.rest = rest;
        Ok(taken)
    }
}

fn truncated_error() -> DecodeError {
    DecodeError::new("the data ends in the middle of a value")
}

/// Returns the error with the required kind, unless the data ended.
fn type_required_error(wanted: &str, error: DecodeError) -> DecodeError {
    if error == truncated_error() {
        return error;
    }
    DecodeError::new(format!("{wanted} is required"))
}

fn duplicate_name_error(name: &Str) -> DecodeError {
    DecodeError::new(format!("attribute {name:?} is given twice"))
}
