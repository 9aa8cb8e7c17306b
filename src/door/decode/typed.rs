//! A tree of JSON values to a request. serde_json's own reader of a tree takes an array for an object and forgets
//! where a fault lies; this one does neither.

use std::vec;

use serde::{
    de::{
        DeserializeSeed, Deserializer, Error as _, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor,
        value::StringDeserializer,
    },
    forward_to_deserialize_any,
};
use serde_json::{Map, Value, map};

use super::fault::Fault;

pub(super) struct Typed(pub(super) Value);

impl Typed {
    fn unexpected(&self) -> Unexpected<'_> {
        match &self.0 {
            Value::Null => Unexpected::Unit,
            Value::Bool(value) => Unexpected::Bool(*value),
            Value::Number(value) => Unexpected::Float(value.as_f64().unwrap_or_default()),
            Value::String(value) => Unexpected::Str(value),
            Value::Array(_) => Unexpected::Seq,
            Value::Object(_) => Unexpected::Map,
        }
    }
}

impl<'de> Deserializer<'de> for Typed {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(value),
            Value::Number(value) => match (value.as_u64(), value.as_i64(), value.as_f64()) {
                (Some(value), _, _) => visitor.visit_u64(value),
                (None, Some(value), _) => visitor.visit_i64(value),
                (None, None, value) => visitor.visit_f64(value.unwrap_or(f64::NAN)),
            },
            Value::String(value) => visitor.visit_string(value),
            Value::Array(items) => visitor.visit_seq(Items { items: items.into_iter(), index: 0 }),
            Value::Object(object) => visitor.visit_map(Fields::new(object)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match self.0 {
            Value::Object(object) => visitor.visit_map(Fields::new(object)),
            _ => Err(Fault::invalid_type(self.unexpected(), &"an object")),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    /// Enums of requests are names; one that holds a value would be written as an object and reads itself as one.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match self.0 {
            Value::String(name) => visitor.visit_enum(IntoDeserializer::<Fault>::into_deserializer(name)),
            _ => Err(Fault::new(format!("expected one of: {}", variants.join(", ")))),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier ignored_any
    }
}

struct Items {
    items: vec::IntoIter<Value>,
    index: usize,
}

impl<'de> SeqAccess<'de> for Items {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        let Some(item) = self.items.next() else { return Ok(None) };
        let index = self.index;
        self.index += 1;
        seed.deserialize(Typed(item)).map(Some).map_err(|fault| fault.at(index))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

struct Fields {
    fields: map::IntoIter,
    /// The field whose name was read and whose value was not.
    next: Option<(String, Value)>,
}

impl Fields {
    fn new(object: Map<String, Value>) -> Self {
        Self { fields: object.into_iter(), next: None }
    }
}

impl<'de> MapAccess<'de> for Fields {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        let Some((name, value)) = self.fields.next() else { return Ok(None) };
        let key: StringDeserializer<Fault> = name.clone().into_deserializer();
        self.next = Some((name, value));
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        let (name, value) = self.next.take().ok_or_else(|| Fault::new("a value without a name"))?;
        seed.deserialize(Typed(value)).map_err(|fault| fault.under(&name))
    }
}
