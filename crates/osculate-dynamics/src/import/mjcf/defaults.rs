//! `default`: classes of attributes, each with those of the class around it behind it.

use super::super::error::{ImportError, Problem};
use super::super::fields::Fields;
use super::super::xml::Element;
use std::collections::BTreeMap;

/// The class of everything that names none.
const MAIN: &str = "main";

struct Class<'x> {
    parent: Option<&'x str>,
    line: usize,
    elements: Vec<Element<'x>>,
}

/// The classes by name.
#[derive(Default)]
pub(super) struct Defaults<'x> {
    classes: BTreeMap<&'x str, Class<'x>>,
    /// Name of the outermost class.
    main: Option<&'x str>,
}

/// An element with the defaults that are behind it, nearest first.
pub(super) struct Resolved<'x> {
    element: Element<'x>,
    defaults: Vec<Element<'x>>,
}

impl<'x> Fields<'x> for Resolved<'x> {
    fn element(&self) -> Element<'x> {
        self.element
    }

    fn find(&self, name: &str) -> Option<(Element<'x>, &'x str)> {
        // All are asked, so that what is overridden counts as read too.
        let own = std::iter::once(&self.element);
        let all = own.chain(&self.defaults).filter_map(|e| e.attribute(name).map(|v| (*e, v)));
        all.collect::<Vec<_>>().into_iter().next()
    }
}

impl<'x> Resolved<'x> {
    /// Those of these attributes that are given nearest: at the element, else at the first default that has one.
    pub(super) fn nearest<'n>(&self, names: &[&'n str]) -> Vec<&'n str> {
        names.iter().for_each(|name| {
            self.find(name);
        });
        let own = std::iter::once(&self.element);
        for element in own.chain(&self.defaults) {
            let given = names.iter().filter(|n| element.attribute(n).is_some()).copied();
            let given: Vec<_> = given.collect();
            if !given.is_empty() {
                return given;
            }
        }
        Vec::new()
    }
}

impl<'x> Defaults<'x> {
    pub(super) fn read(root: Element<'x>) -> Result<Self, ImportError> {
        let mut out = Self::default();
        for element in root.all("default") {
            let name = element.text("class").unwrap_or(MAIN);
            let main = *out.main.get_or_insert(name);
            let class = Class { parent: None, line: element.line(), elements: Vec::new() };
            out.classes.entry(main).or_insert(class);
            out.take(element, main)?;
        }
        Ok(out)
    }

    /// Takes what stands in a class.
    fn take(&mut self, element: Element<'x>, name: &'x str) -> Result<(), ImportError> {
        for child in element.children() {
            if child.tag() != "default" {
                if let Some(class) = self.classes.get_mut(name) {
                    class.elements.push(child);
                }
                continue;
            }
            child.visit();
            let inner = child.needed_text("class")?;
            let class = Class { parent: Some(name), line: child.line(), elements: Vec::new() };
            if let Some(first) = self.classes.get(inner) {
                let what = format!("class '{inner}'");
                return Err(child.error(Problem::Twice { what, first: first.line }));
            }
            self.classes.insert(inner, class);
            self.take(child, inner)?;
        }
        Ok(())
    }

    /// That a class exists.
    pub(super) fn check(&self, element: Element<'x>, name: &str) -> Result<(), ImportError> {
        let unnamed = self.main.is_none() && name == MAIN;
        if unnamed || self.classes.contains_key(name) {
            return Ok(());
        }
        Err(element.error(Problem::Unknown { what: "class", name: name.into() }))
    }

    /// An element with the defaults of its class, of the class its bodies give, or of the outermost one.
    pub(super) fn resolve(
        &self,
        element: Element<'x>,
        tags: &[&str],
        body_class: Option<&'x str>,
    ) -> Result<Resolved<'x>, ImportError> {
        element.visit();
        let own = element.text("class");
        if let Some(name) = own {
            self.check(element, name)?;
        }
        let mut defaults = Vec::new();
        let mut next = own.or(body_class).or(self.main);
        while let Some(class) = next.and_then(|name| self.classes.get(name)) {
            // The last of several in one class wins.
            let of_tag = class.elements.iter().rev().filter(|e| tags.contains(&e.tag()));
            defaults.extend(of_tag.inspect(|e| e.visit()).copied());
            next = class.parent;
        }
        Ok(Resolved { element, defaults })
    }
}
