//! Reads MessagePack as values of a type. Trusts nothing: every length is held against the bytes
//! that are left before anything is allocated.

use super::super::shapes::Shapes;
use super::{DecodeError, NIL, refinement, type_json, wanted};
use crate::ty::ObjectType;
use crate::value::{Map, Object, Tuple};
use crate::{Number, Step, Str, Type, Value};
use std::sync::Arc;

/// The most elements for which room is made before they are read.
const MAX_RESERVED: usize = 4096;

/// The bytes that are still to be read.
pub(super) struct Reader<'b> {
    rest: &'b [u8],
    shapes: Shapes,
}

impl<'b> Reader<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        Self { rest: bytes, shapes: Shapes::default() }
    }

    /// Reads a value that stands `depth` levels inside the outermost one.
    pub(super) fn value(&mut self, ty: &Type, depth: u16) -> Result<Value, DecodeError> {
        if depth > Value::MAX_DEPTH {
            return Err(DecodeError::new("the value is nested too deep"));
        }
        match self.peek()? {
            NIL => {
                self.byte()?;
                Ok(Value::null(ty.clone()))
            }
            0xc7..=0xc9 | 0xd4..=0xd8 => self.unknown(ty),
            _ => match ty {
                Type::Dynamic => self.dynamic(depth),
                Type::Bool => self.bool().map(Value::Bool),
                Type::Number => self.number().map(Value::Number),
                Type::String => Ok(Value::String(Str::new(self.text()?))),
                Type::List(element) => Ok(match self.elements(ty, element, depth)? {
                    Some(items) => Value::list(Type::clone(element), items),
                    None => Value::null(ty.clone()),
                }),
                Type::Set(element) => Ok(match self.elements(ty, element, depth)? {
                    Some(items) => Value::set(Type::clone(element), items),
                    None => Value::null(ty.clone()),
                }),
                Type::Map(element) => self.map(ty, element, depth),
                Type::Tuple(elements) => self.tuple(elements, depth),
                Type::Object(shape) => self.object(shape, depth),
            },
        }
    }

    fn unknown(&mut self, ty: &Type) -> Result<Value, DecodeError> {
        let length = match self.byte()? {
            0xc7 => self.uint(1)?,
            0xc8 => self.uint(2)?,
            0xc9 => self.uint(4)?,
            // The only other codes that lead here are those of the five fixed lengths.
            code => 1 << (code - 0xd4),
        };
        let kind = self.byte()?;
        let payload = self.take(usize::try_from(length).unwrap_or(usize::MAX))?;
        if payload.len() <= 1 {
            return Ok(Value::unknown(ty.clone()));
        }
        match (kind, ty) {
            (refinement::REFINED, Type::Dynamic) => Ok(Value::dynamic()),
            (refinement::REFINED, _) => refinement::read(payload, ty),
            _ => Err(DecodeError::new(format!("unsupported extension type {kind}"))),
        }
    }

    /// Reads a value with its own type before it.
    fn dynamic(&mut self, depth: u16) -> Result<Value, DecodeError> {
        if self.array_len().ok().flatten() != Some(2) {
            return Err(DecodeError::new("a value of any type must come with its type"));
        }
        let ty = type_json::decode(self.bytes()?)
            .map_err(|error| DecodeError::new(format!("invalid type: {}", error.reason)))?;
        self.value(&ty, depth + 1)
    }

    fn elements(
        &mut self,
        ty: &Type,
        element: &Type,
        depth: u16,
    ) -> Result<Option<Vec<Value>>, DecodeError> {
        let Some(length) = self.array_len().map_err(|error| self.expected(ty, error))? else {
            return Ok(None);
        };
        let mut items = Vec::with_capacity(length.min(MAX_RESERVED));
        for at in 0..length {
            let item = self.value(element, depth + 1).map_err(|error| match ty {
                Type::List(_) => error.within(Step::Index(Number::from(at))),
                _ => error,
            })?;
            items.push(item);
        }
        Ok(Some(items))
    }

    fn map(&mut self, ty: &Type, element: &Type, depth: u16) -> Result<Value, DecodeError> {
        let Some(length) = self.map_len().map_err(|error| self.expected(ty, error))? else {
            return Ok(Value::null(ty.clone()));
        };
        let mut pairs = Vec::with_capacity(length.min(MAX_RESERVED));
        for _ in 0..length {
            let key = Str::new(self.text()?);
            let item = self
                .value(element, depth + 1)
                .map_err(|error| error.within(Step::Key(key.clone())))?;
            pairs.push((key, item));
        }
        Ok(Value::Map(Map::new(element.clone(), pairs)))
    }

    fn tuple(&mut self, elements: &Arc<Vec<Type>>, depth: u16) -> Result<Value, DecodeError> {
        let length = self.array_len().ok().flatten();
        if length != Some(elements.len()) {
            let wanted = elements.len();
            return Err(DecodeError::new(format!("a tuple of length {wanted} is required")));
        }
        let mut items = Vec::with_capacity(elements.len());
        for (at, ty) in elements.iter().enumerate() {
            let item = self
                .value(ty, depth + 1)
                .map_err(|error| error.within(Step::Index(Number::from(at))))?;
            items.push(item);
        }
        Ok(Value::Tuple(Tuple::new(items)))
    }

    fn object(&mut self, shape: &Arc<ObjectType>, depth: u16) -> Result<Value, DecodeError> {
        let wanted = shape.attributes.len();
        let length = self
            .map_len()
            .ok()
            .flatten()
            .ok_or_else(|| DecodeError::new("an object is required"))?;
        if length != wanted {
            return Err(DecodeError::new(format!(
                "an object with {wanted} attributes is required ({length} given)"
            )));
        }
        let names = self.shapes.names(shape);
        let mut items: Vec<Option<Value>> = vec![None; wanted];
        for expected in 0..wanted {
            let raw = self.text()?;
            // Writers sort, so the next name is nearly always the expected one.
            let at = if names[expected].as_str() == raw {
                expected
            } else {
                names
                    .binary_search(&Str::new(raw))
                    .map_err(|_| DecodeError::new(format!("unsupported attribute {raw:?}")))?
            };
            let name = &names[at];
            let item = self
                .value(&shape.attributes[name], depth + 1)
                .map_err(|error| error.within(Step::Attribute(name.clone())))?;
            if items[at].replace(item).is_some() {
                return Err(DecodeError::new(format!("attribute {raw:?} is given twice")));
            }
        }
        // As many as there are names, and none twice: all are there.
        let items = items.into_iter().flatten().collect();
        Ok(Value::Object(Object::with_names(names, items)))
    }

    /// Reads true or false.
    pub(super) fn bool(&mut self) -> Result<bool, DecodeError> {
        match self.peek()? {
            code @ (0xc2 | 0xc3) => {
                self.byte()?;
                Ok(code == 0xc3)
            }
            _ => Err(DecodeError::new("bool is required")),
        }
    }

    /// Reads a number in any of its forms.
    pub(super) fn number(&mut self) -> Result<Number, DecodeError> {
        let required = || DecodeError::new("number is required");
        match self.peek()? {
            code @ 0x00..=0x7f => {
                self.byte()?;
                Ok(Number::from(i64::from(code)))
            }
            code @ 0xe0..=0xff => {
                self.byte()?;
                Ok(Number::from(i64::from(code.cast_signed())))
            }
            code @ 0xcc..=0xcf => {
                self.byte()?;
                Ok(Number::from(self.uint(1 << (code - 0xcc))?))
            }
            code @ 0xd0..=0xd3 => {
                self.byte()?;
                let n_bytes = 1 << (code - 0xd0);
                let bits = self.uint(n_bytes)?.cast_signed();
                // Moves the sign bit of the short form to the top and back down.
                let unused = 64 - 8 * u32::from(n_bytes);
                Ok(Number::from((bits << unused) >> unused))
            }
            0xca => {
                self.byte()?;
                let bits = u32::try_from(self.uint(4)?).unwrap_or(u32::MAX);
                Number::from_f64(f64::from(f32::from_bits(bits))).ok_or_else(required)
            }
            0xcb => {
                self.byte()?;
                let float = f64::from_bits(self.uint(8)?);
                Number::from_f64(float).ok_or_else(required)
            }
            _ => {
                let text = self.text().map_err(|_| required())?;
                Number::parse(text).ok_or_else(required)
            }
        }
    }

    /// Reads text, not yet in normal form.
    pub(super) fn text(&mut self) -> Result<&'b str, DecodeError> {
        let bytes = self.bytes()?;
        std::str::from_utf8(bytes).map_err(|_| DecodeError::new("a string is not valid UTF-8"))
    }

    /// Reads what was written as text or as bytes; writers elsewhere mix them up.
    fn bytes(&mut self) -> Result<&'b [u8], DecodeError> {
        let length = match self.peek()? {
            code @ 0xa0..=0xbf => {
                self.byte()?;
                u64::from(code & 0x1f)
            }
            code @ (0xd9..=0xdb | 0xc4..=0xc6) => {
                self.byte()?;
                self.uint(match code {
                    0xd9 | 0xc4 => 1,
                    0xda | 0xc5 => 2,
                    _ => 4,
                })?
            }
            _ => return Err(DecodeError::new("string is required")),
        };
        self.take(usize::try_from(length).unwrap_or(usize::MAX))
    }

    /// Reads the head of an array; `None` for nil.
    pub(super) fn array_len(&mut self) -> Result<Option<usize>, DecodeError> {
        self.len_of(0x90, 0xdc, 1)
    }

    /// Reads the head of a map; `None` for nil.
    pub(super) fn map_len(&mut self) -> Result<Option<usize>, DecodeError> {
        self.len_of(0x80, 0xde, 2)
    }

    /// Reads a head: `short` is the code with the length in its low half, `long` the one with the
    /// length in two bytes after it. Each of the entries takes at least `least` bytes.
    fn len_of(&mut self, short: u8, long: u8, least: usize) -> Result<Option<usize>, DecodeError> {
        let length = match self.peek()? {
            NIL => {
                self.byte()?;
                return Ok(None);
            }
            code if code & 0xf0 == short => {
                self.byte()?;
                u64::from(code & 0x0f)
            }
            code if code == long || code == long + 1 => {
                self.byte()?;
                self.uint(if code == long { 2 } else { 4 })?
            }
            _ => return Err(DecodeError::new("a list or map is required")),
        };
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if length.saturating_mul(least) > self.rest.len() {
            return Err(truncated());
        }
        Ok(Some(length))
    }

    /// Says which type was required, unless the data just ended.
    fn expected(&self, ty: &Type, error: DecodeError) -> DecodeError {
        if error == truncated() {
            return error;
        }
        DecodeError::new(format!("{} is required", wanted(ty)))
    }

    /// Reads a big-endian number of at most eight bytes.
    fn uint(&mut self, n_bytes: u8) -> Result<u64, DecodeError> {
        let bytes = self.take(usize::from(n_bytes))?;
        Ok(bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn peek(&self) -> Result<u8, DecodeError> {
        self.rest.first().copied().ok_or_else(truncated)
    }

    fn byte(&mut self) -> Result<u8, DecodeError> {
        let (first, rest) = self.rest.split_first().ok_or_else(truncated)?;
        self.rest = rest;
        Ok(*first)
    }

    fn take(&mut self, length: usize) -> Result<&'b [u8], DecodeError> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or_else(truncated)?;
        self.rest = rest;
        Ok(taken)
    }
}

fn truncated() -> DecodeError {
    DecodeError::new("the data ends in the middle of a value")
}
