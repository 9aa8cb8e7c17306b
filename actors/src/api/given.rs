//! Fields that say more than their value: whether they were given at all, and one value for all or one for each.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{self, DeserializeOwned, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer},
};

/// Reads a field that may be left out (the default of the outer option), null, or there.
pub(crate) fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::<T>::deserialize(deserializer).map(Some)
}

/// One value for a whole batch, or a list with one for each of its members.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum OneOrEach<T> {
    /// For all.
    One(T),
    /// For each, in order.
    Each(Vec<T>),
}

impl<T: Clone> OneOrEach<T> {
    /// One value for each of `count` members; none if the list has another length.
    pub fn spread(&self, count: usize) -> Option<Vec<T>> {
        match self {
            Self::One(value) => Some(vec![value.clone(); count]),
            Self::Each(values) => (values.len() == count).then(|| values.clone()),
        }
    }
}

/// By hand, so that a fault in a member keeps its place: serde's own way of trying one form after the other forgets it.
impl<'de, T: DeserializeOwned> Deserialize<'de> for OneOrEach<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Either(PhantomData))
    }
}

struct Either<T>(PhantomData<T>);

impl<T: DeserializeOwned> Either<T> {
    fn one<'de, D: Deserializer<'de>>(deserializer: D) -> Result<OneOrEach<T>, D::Error> {
        T::deserialize(deserializer).map(OneOrEach::One)
    }
}

impl<'de, T: DeserializeOwned> Visitor<'de> for Either<T> {
    type Value = OneOrEach<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one value, or a list with one for each")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Self::one(de::value::UnitDeserializer::new())
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Self::Value, E> {
        Self::one(de::value::BoolDeserializer::new(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Self::Value, E> {
        Self::one(Present(de::value::U64Deserializer::new(value)))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Self::Value, E> {
        Self::one(Present(de::value::I64Deserializer::new(value)))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Self::Value, E> {
        Self::one(Present(de::value::F64Deserializer::new(value)))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Self::Value, E> {
        Self::one(Present(de::value::StrDeserializer::new(value)))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        Self::one(Present(MapAccessDeserializer::new(map)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut each = Vec::new();
        while let Some(member) = members.next_element()? {
            each.push(member);
        }
        Ok(OneOrEach::Each(each))
    }
}

/// A value that is there: serde's own deserializers of single values do not know that an option may hold them.
struct Present<D>(D);

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Present<D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        visitor.visit_some(self.0)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_enum(name, variants, visitor)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::OneOrEach;

    #[test]
    fn one_for_all_or_one_for_each() {
        let read = |value| serde_json::from_value::<OneOrEach<Option<f64>>>(value).unwrap();
        assert_eq!(read(json!(3)), OneOrEach::One(Some(3.0)));
        assert_eq!(read(json!(null)), OneOrEach::One(None));
        assert_eq!(read(json!([1, null])), OneOrEach::Each(vec![Some(1.0), None]));
        assert_eq!(read(json!([1, null])).spread(2), Some(vec![Some(1.0), None]));
        assert_eq!((read(json!([1])).spread(2), read(json!(1)).spread(2)), (None, Some(vec![Some(1.0); 2])));
        let maps = serde_json::from_value::<OneOrEach<Option<serde_json::Map<String, serde_json::Value>>>>;
        assert_eq!(maps(json!({"a": 1})).unwrap(), OneOrEach::One(json!({"a": 1}).as_object().cloned()));
        assert!(maps(json!("a")).is_err());
    }
}
