//! Typed attributes.

use super::error::{ImportError, Problem};
use super::xml::{Element, short};
use nalgebra::Vector3;

/// An element whose attributes can be asked for, perhaps with defaults behind it.
pub(super) trait Fields<'x> {
    /// The element itself.
    fn element(&self) -> Element<'x>;

    /// Value of an attribute, and the element it stands at.
    fn find(&self, name: &str) -> Option<(Element<'x>, &'x str)>;

    /// A text; surrounding blanks are no part of it.
    fn text(&self, name: &str) -> Option<&'x str> {
        self.find(name).map(|(_, value)| value.trim())
    }

    /// A text that must be there and not be empty.
    fn needed_text(&self, name: &str) -> Result<&'x str, ImportError> {
        match self.text(name) {
            Some("") => Err(value_error(self.element(), name, "", "a name")),
            Some(text) => Ok(text),
            None => Err(self.missing(name)),
        }
    }

    /// Numbers: at least `least`, at most `most`, all finite.
    fn list(
        &self,
        name: &str,
        (least, most): (usize, usize),
        allowed: &'static str,
    ) -> Result<Option<Vec<f64>>, ImportError> {
        let Some((owner, value)) = self.find(name) else { return Ok(None) };
        let refused = || value_error(owner, name, value, allowed);
        let mut numbers = Vec::new();
        for word in value.split_ascii_whitespace() {
            let number: f64 = word.parse().map_err(|_| refused())?;
            if !number.is_finite() || numbers.len() == most {
                return Err(refused());
            }
            numbers.push(number);
        }
        if numbers.len() < least { Err(refused()) } else { Ok(Some(numbers)) }
    }

    /// One finite number.
    fn number(&self, name: &str) -> Result<Option<f64>, ImportError> {
        Ok(self.list(name, (1, 1), "one finite number")?.map(|x| x[0]))
    }

    /// One finite number that must be there.
    fn needed_number(&self, name: &str) -> Result<f64, ImportError> {
        self.number(name)?.ok_or_else(|| self.missing(name))
    }

    /// A number that is not negative.
    fn not_negative(&self, name: &str) -> Result<Option<f64>, ImportError> {
        match self.number(name)? {
            Some(x) if x < 0.0 => Err(self.refused(name, "≥ 0")),
            other => Ok(other),
        }
    }

    /// A number above zero that must be there.
    fn needed_positive(&self, name: &str) -> Result<f64, ImportError> {
        let x = self.needed_number(name)?;
        if x > 0.0 { Ok(x) } else { Err(self.refused(name, "> 0")) }
    }

    /// Three finite numbers.
    fn vector(&self, name: &str) -> Result<Option<Vector3<f64>>, ImportError> {
        let list = self.list(name, (3, 3), "three finite numbers")?;
        Ok(list.map(|x| Vector3::new(x[0], x[1], x[2])))
    }

    /// A direction: three numbers that are not all zero, made a unit vector.
    fn direction(&self, name: &str) -> Result<Option<Vector3<f64>>, ImportError> {
        let Some(v) = self.vector(name)? else { return Ok(None) };
        match unit(&v) {
            Some(v) => Ok(Some(v)),
            None => Err(self.refused(name, "three numbers, not all zero")),
        }
    }

    /// `true` or `false`.
    fn flag(&self, name: &str) -> Result<Option<bool>, ImportError> {
        match self.text(name) {
            None => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(_) => Err(self.refused(name, "true or false")),
        }
    }

    /// A whole number that is not negative.
    fn whole(&self, name: &str) -> Result<Option<u32>, ImportError> {
        let Some(text) = self.text(name) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| self.refused(name, "a whole number, ≥ 0"))
    }

    /// That the value of an attribute is not allowed.
    fn refused(&self, name: &str, allowed: &'static str) -> ImportError {
        let (owner, value) = self.find(name).unwrap_or((self.element(), ""));
        value_error(owner, name, value, allowed)
    }

    /// That an attribute is missing.
    fn missing(&self, name: &str) -> ImportError {
        self.element().error(Problem::Missing { what: format!("attribute {name}") })
    }
}

impl<'x> Fields<'x> for Element<'x> {
    fn element(&self) -> Element<'x> {
        *self
    }

    fn find(&self, name: &str) -> Option<(Element<'x>, &'x str)> {
        self.attribute(name).map(|value| (*self, value))
    }
}

/// The unit vector along `v`, without overflow or underflow; none of a zero vector.
pub(super) fn unit(v: &Vector3<f64>) -> Option<Vector3<f64>> {
    let largest = v.amax();
    if largest > 0.0 { Some((v / largest).normalize()) } else { None }
}

fn value_error(owner: Element<'_>, name: &str, found: &str, allowed: &'static str) -> ImportError {
    owner.error(Problem::Value { field: name.into(), found: short(found), allowed })
}
