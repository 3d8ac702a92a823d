//! The two things that the attributes of an item become: values, or the text of a request.
//!
//! The plan of an item type is gone through once, by [`super::Folder`], whichever is wanted.

use std::borrow::Cow;
use std::sync::Arc;

use dynafold_dynamodb::{Attribute, DigestSeed, MAX_LEVELS, Scalar, write_attribute, write_scalar};
use dynafold_relational::value::{Text, Value, quote};

use super::fault::Fault;
use super::limits::{check_name, check_value};
use super::to_attribute;
use super::write_plan::PlannedName;

/// What becomes of an attribute, or of a part of one: nothing, where it is absent.
pub(super) type Part<S> = Result<Option<<S as Sink>::Made>, Fault>;

/// Takes what an attribute is made of, from the outside to the inside.
pub(super) trait Sink: Sized {
    /// What is known of a value that is made.
    type Made;
    /// A list that is under way.
    type List;
    /// A map that is under way.
    type Map;

    /// Takes a value of a row, or one that a template has made.
    fn value(&mut self, value: Cow<'_, Value>, keep_null: bool) -> Part<Self>;

    /// Takes an attribute that is made already.
    fn attribute(&mut self, attribute: Cow<'_, Attribute>) -> Self::Made;

    /// DynamoDB's name for a value's type.
    fn type_name(made: &Self::Made) -> &'static str;

    /// Begins a list.
    fn list(&mut self) -> Self::List;

    /// Adds what `make` makes to a list; NULL for what is absent, because the position tells.
    fn element(
        &mut self,
        list: &mut Self::List,
        make: impl FnOnce(&mut Self) -> Part<Self>,
    ) -> Result<(), Fault>;

    /// Ends a list.
    fn end_list(&mut self, list: Self::List) -> Self::Made;

    /// Begins a map.
    fn map(&mut self) -> Self::Map;

    /// Adds what `make` makes to a map, unless it is absent.
    fn member(
        &mut self,
        map: &mut Self::Map,
        name: &Arc<str>,
        make: impl FnOnce(&mut Self) -> Part<Self>,
    ) -> Result<(), Fault>;

    /// Ends a map.
    fn end_map(&mut self, map: Self::Map) -> Self::Made;
}

/// Makes values, on which something has to be decided.
pub(super) struct Values;

impl Sink for Values {
    type Made = Attribute;
    type List = Vec<Attribute>;
    type Map = Vec<(Arc<str>, Attribute)>;

    fn value(&mut self, value: Cow<'_, Value>, keep_null: bool) -> Part<Self> {
        Ok(match value {
            Cow::Owned(Value::Text(text)) => Some(Attribute::S(text)),
            Cow::Owned(Value::Number(number)) => Some(Attribute::N(number)),
            value => to_attribute(&value, keep_null)?,
        })
    }

    fn attribute(&mut self, attribute: Cow<'_, Attribute>) -> Attribute {
        attribute.into_owned()
    }

    fn type_name(made: &Attribute) -> &'static str {
        made.type_name()
    }

    fn list(&mut self) -> Vec<Attribute> {
        Vec::new()
    }

    fn element(
        &mut self,
        list: &mut Vec<Attribute>,
        make: impl FnOnce(&mut Self) -> Part<Self>,
    ) -> Result<(), Fault> {
        list.push(make(self)?.unwrap_or(Attribute::Null));
        Ok(())
    }

    fn end_list(&mut self, list: Vec<Attribute>) -> Attribute {
        Attribute::L(list)
    }

    fn map(&mut self) -> Self::Map {
        Vec::new()
    }

    fn member(
        &mut self,
        map: &mut Self::Map,
        name: &Arc<str>,
        make: impl FnOnce(&mut Self) -> Part<Self>,
    ) -> Result<(), Fault> {
        if let Some(value) = make(self)? {
            map.push((name.clone(), value));
        }
        Ok(())
    }

    fn end_map(&mut self, map: Self::Map) -> Attribute {
        Attribute::M(map)
    }
}

/// Writes DynamoDB JSON, with nothing made in between. It says of no value what is wrong with it: where
/// something is, the values tell.
pub(super) struct Json<'o> {
    out: &'o mut String,
    /// Where the next value stands, where digests are wanted.
    seed: Option<DigestSeed>,
    /// Lists and maps around the next value.
    level: usize,
    /// Whether all that was written is within DynamoDB's limits.
    is_sound: bool,
}

/// A value that was written.
#[derive(Debug, Clone, Copy)]
pub(super) struct WrittenValue {
    type_name: &'static str,
    /// Bytes that DynamoDB counts.
    pub(super) size: usize,
    /// 0 where none is wanted.
    digest: u128,
}

/// A list or a map that is being written.
pub(super) struct Written {
    /// Bytes that DynamoDB counts for what is in it.
    pub(super) size: usize,
    /// The sum of the digests of what is in it.
    pub(super) digest: u128,
    /// How many values are in it.
    count: u64,
    /// Bytes that DynamoDB counts for each beside its own.
    each: usize,
    /// Where it stands.
    outer: Option<DigestSeed>,
}

impl Written {
    fn count(&mut self, size: usize, digest: u128) {
        self.count += 1;
        self.size += self.each + size;
        self.digest = self.digest.wrapping_add(digest);
    }
}

impl<'o> Json<'o> {
    /// Appends to a text.
    pub(super) fn new(out: &'o mut String) -> Self {
        Self {
            out,
            seed: None,
            level: 0,
            is_sound: true,
        }
    }

    pub(super) fn is_sound(&self) -> bool {
        self.is_sound
    }

    /// Begins an item.
    pub(super) fn item(&mut self) -> Written {
        self.out.push('{');
        Written {
            size: 0,
            digest: 0,
            count: 0,
            each: 0,
            outer: self.seed,
        }
    }

    /// Adds an attribute or a member, unless it is absent; its bytes, with those of its name. `planned`: what is known of
    /// the name of an attribute.
    pub(super) fn add(
        &mut self,
        around: &mut Written,
        name: &str,
        planned: Option<&PlannedName>,
        make: impl FnOnce(&mut Self) -> Part<Self>,
    ) -> Result<Option<usize>, Fault> {
        let from = self.out.len();
        if around.count > 0 {
            self.out.push(',');
        }
        let within = self.seed;
        match planned {
            Some(planned) => {
                self.out.push_str(&planned.quoted);
                self.seed = planned.seed;
            }
            None => {
                quote(self.out, name);
                self.seed = within.map(|within| within.member(name));
            }
        }
        self.out.push(':');
        let made = make(self)?;
        self.seed = within;
        let Some(made) = made else {
            self.out.truncate(from);
            return Ok(None);
        };
        self.is_sound &= check_name(name).is_ok();
        let size = name.len() + made.size;
        around.count(size, made.digest);
        Ok(Some(size))
    }

    /// Ends an item.
    pub(super) fn end_item(&mut self) {
        self.out.push('}');
    }

    fn scalar(&mut self, scalar: Scalar<'_>) -> WrittenValue {
        self.is_sound &= self.level < MAX_LEVELS;
        write_scalar(self.out, scalar);
        WrittenValue {
            type_name: scalar.type_name(),
            size: scalar.size(),
            digest: self.seed.map_or(0, |seed| seed.scalar(scalar)),
        }
    }

    fn open(&mut self, before: &str, within: impl FnOnce(DigestSeed) -> DigestSeed) -> Written {
        self.is_sound &= self.level < MAX_LEVELS;
        self.out.push_str(before);
        let outer = self.seed;
        self.seed = outer.map(within);
        self.level += 1;
        Written {
            size: 3,
            digest: 0,
            count: 0,
            each: 1,
            outer,
        }
    }

    fn close(&mut self, open: &Written, after: &str, type_name: &'static str) -> WrittenValue {
        self.out.push_str(after);
        self.level -= 1;
        let within = std::mem::replace(&mut self.seed, open.outer);
        WrittenValue {
            type_name,
            size: open.size,
            digest: within.map_or(0, |within| within.around(open.digest)),
        }
    }

    /// Writes a value that stands inside another, or is there at all.
    fn within(&mut self, value: &Value) -> Result<WrittenValue, Fault> {
        Ok(match value {
            Value::Null => self.scalar(Scalar::Null),
            Value::Bool(truth) => self.scalar(Scalar::Bool(*truth)),
            Value::Number(number) => self.scalar(Scalar::N(number)),
            Value::Text(text) => self.scalar(Scalar::S(text)),
            Value::Time(time) => self.scalar(Scalar::S(time.as_str())),
            Value::Bytes(bytes) => self.scalar(Scalar::B(bytes)),
            Value::List(elements) => {
                let mut list = self.list();
                for element in elements {
                    self.element(&mut list, |sink| sink.within(element).map(Some))?;
                }
                self.end_list(list)
            }
            Value::Map(members) => {
                let mut map = self.map();
                if members.is_sorted_by(|(a, _), (b, _)| a <= b) {
                    self.members(&mut map, members)?;
                } else {
                    let mut sorted: Vec<&(Text, Value)> = members.iter().collect();
                    sorted.sort_by(|(a, _), (b, _)| a.cmp(b));
                    self.members(&mut map, sorted)?;
                }
                self.end_map(map)
            }
            // That the members are of one kind, and differ, is for values to say.
            Value::Set(_) => match to_attribute(value, false)? {
                Some(set) => self.attribute(Cow::Owned(set)),
                None => {
                    self.is_sound = false;
                    self.scalar(Scalar::Null)
                }
            },
            Value::Unfit(unfit) => return Err(unfit.why.into()),
        })
    }

    fn members<'v>(
        &mut self,
        map: &mut Written,
        members: impl IntoIterator<Item = &'v (Text, Value)>,
    ) -> Result<(), Fault> {
        for (name, member) in members {
            self.add(map, name, None, |sink| sink.within(member).map(Some))?;
        }
        Ok(())
    }
}

impl Sink for Json<'_> {
    type Made = WrittenValue;
    type List = Written;
    type Map = Written;

    fn value(&mut self, value: Cow<'_, Value>, keep_null: bool) -> Part<Self> {
        match &*value {
            Value::Null if !keep_null => Ok(None),
            Value::Set(members) if members.is_empty() => Ok(None),
            value => self.within(value).map(Some),
        }
    }

    fn attribute(&mut self, attribute: Cow<'_, Attribute>) -> WrittenValue {
        self.is_sound &= check_value(&attribute, self.level).is_ok();
        write_attribute(self.out, &attribute);
        WrittenValue {
            type_name: attribute.type_name(),
            size: attribute.size(),
            digest: self.seed.map_or(0, |seed| seed.attribute(&attribute)),
        }
    }

    fn type_name(made: &WrittenValue) -> &'static str {
        made.type_name
    }

    fn list(&mut self) -> Written {
        self.open("{\"L\":[", DigestSeed::in_list)
    }

    fn element(
        &mut self,
        list: &mut Written,
        make: impl FnOnce(&mut Self) -> Part<Self>,
    ) -> Result<(), Fault> {
        if list.count > 0 {
            self.out.push(',');
        }
        let within = self.seed;
        self.seed = within.map(|within| within.element(list.count));
        let made = match make(self)? {
            Some(made) => made,
            None => self.scalar(Scalar::Null),
        };
        self.seed = within;
        list.count(made.size, made.digest);
        Ok(())
    }

    fn end_list(&mut self, list: Written) -> WrittenValue {
        self.close(&list, "]}", "L")
    }

    fn map(&mut self) -> Written {
        self.open("{\"M\":{", DigestSeed::in_map)
    }

    fn member(
        &mut self,
        map: &mut Written,
        name: &Arc<str>,
        make: impl FnOnce(&mut Self) -> Part<Self>,
    ) -> Result<(), Fault> {
        self.add(map, name, None, make).map(drop)
    }

    fn end_map(&mut self, map: Written) -> WrittenValue {
        self.close(&map, "}}", "M")
    }
}
