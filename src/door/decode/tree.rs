//! Text to a tree of JSON values, refusing what would be silence later: a name given twice, nesting without end.

use std::{cell::RefCell, fmt};

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::fault::Fault;
use crate::door::DEPTH_MAX;

pub(super) fn parse(body: &[u8]) -> Result<Value, Fault> {
    let text = std::str::from_utf8(body).map_err(|_| Fault::new("the body is not UTF-8"))?;
    let fault = RefCell::new(None);
    let mut source = serde_json::Deserializer::from_str(text);
    let value = Node { depth: 0, fault: &fault }.deserialize(&mut source).and_then(|value| {
        source.end()?;
        Ok(value)
    });
    // What the parser says of broken syntax is a line, a column and a rule, never the text.
    value.map_err(|error| fault.take().unwrap_or_else(|| Fault::new(format!("the body is not JSON: {error}"))))
}

/// One value at some depth. The parser's errors cannot carry a path, so a fault is left in `fault` on the way out.
#[derive(Clone, Copy)]
struct Node<'a> {
    depth: usize,
    fault: &'a RefCell<Option<Fault>>,
}

impl Node<'_> {
    fn inner<E: serde::de::Error>(self) -> Result<Self, E> {
        if self.depth == DEPTH_MAX {
            return Err(self.fail(Fault::past(DEPTH_MAX, format!("nested deeper than {DEPTH_MAX} levels"))));
        }
        Ok(Self { depth: self.depth + 1, ..self })
    }

    fn fail<E: serde::de::Error>(self, fault: Fault) -> E {
        self.fault.replace(Some(fault));
        E::custom("refused")
    }

    /// Adds a step to the path of a fault that passes by.
    fn step(self, step: impl FnOnce(Fault) -> Fault) {
        let fault = self.fault.take().map(step);
        self.fault.replace(fault);
    }
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Value, D::Error> {
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let inner = self.inner::<A::Error>()?;
        let mut items = Vec::new();
        loop {
            match seq.next_element_seed(inner) {
                Ok(Some(item)) => items.push(item),
                Ok(None) => return Ok(Value::Array(items)),
                Err(error) => {
                    self.step(|fault| fault.at(items.len()));
                    return Err(error);
                }
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let inner = self.inner::<A::Error>()?;
        let mut object = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            if object.contains_key(&name) {
                return Err(self.fail(Fault::new("given twice").under(&name)));
            }
            match map.next_value_seed(inner) {
                Ok(value) => object.insert(name, value),
                Err(error) => {
                    self.step(|fault| fault.under(&name));
                    return Err(error);
                }
            };
        }
        Ok(Value::Object(object))
    }
}
