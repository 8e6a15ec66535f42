//! XML with lines, and a memory of what was read: what nobody asked for is reported, so that nothing is dropped in
//! silence.

use super::error::{ImportError, Problem, Spot};
use super::notes::{Note, Outcome, Reasons};
use roxmltree::{Document, Error, Node, ParsingOptions};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// How deep elements may stand in each other: a body a level, so far more than any robot has.
const MOST_DEPTH: usize = 256;
/// Most nodes of a file: elements, texts and comments.
const MOST_NODES: u32 = 4_000_000;

/// A file and what was read of it.
pub(super) struct Xml<'t> {
    document: Document<'t>,
    file: PathBuf,
    /// Where lines start \[bytes\].
    lines: Vec<usize>,
    /// Elements that were read, by index.
    elements: RefCell<BTreeSet<usize>>,
    /// Attributes that were asked for, by position.
    attributes: RefCell<BTreeSet<usize>>,
}

/// An element.
#[derive(Clone, Copy)]
pub(super) struct Element<'x> {
    node: Node<'x, 'x>,
    xml: &'x Xml<'x>,
}

impl<'t> Xml<'t> {
    /// Parses a text; `file` is what messages call it.
    pub(super) fn parse(text: &'t str, file: &Path) -> Result<Self, ImportError> {
        // Without document type declarations there are no entities to expand.
        let options =
            ParsingOptions { allow_dtd: false, nodes_limit: MOST_NODES, ..Default::default() };
        let document =
            Document::parse_with_options(text, options).map_err(|e| malformed(text, file, &e))?;
        let starts = text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i + 1);
        let xml = Self {
            document,
            file: file.into(),
            lines: std::iter::once(0).chain(starts).collect(),
            elements: RefCell::default(),
            attributes: RefCell::default(),
        };
        xml.check_depth()?;
        Ok(xml)
    }

    fn check_depth(&self) -> Result<(), ImportError> {
        let (mut node, mut depth) = (self.document.root(), 0_usize);
        loop {
            if depth > MOST_DEPTH {
                let problem = Problem::Depth { most: MOST_DEPTH };
                return Err(Element { node, xml: self }.error(problem));
            }
            if let Some(child) = node.first_element_child() {
                (node, depth) = (child, depth + 1);
                continue;
            }
            while node.next_sibling_element().is_none() {
                match node.parent() {
                    Some(parent) => (node, depth) = (parent, depth.saturating_sub(1)),
                    None => return Ok(()),
                }
            }
            if let Some(next) = node.next_sibling_element() {
                node = next;
            }
        }
    }

    /// The outermost element.
    pub(super) fn root<'x>(&'x self, tag: &'static str) -> Result<Element<'x>, ImportError> {
        let root = Element { node: self.document.root_element(), xml: self };
        if root.tag() == tag {
            root.visit();
            return Ok(root);
        }
        Err(root.error(Problem::Root { found: root.tag().into(), expected: tag }))
    }

    fn line(&self, position: usize) -> usize {
        self.lines.partition_point(|&start| start <= position)
    }

    fn spot_at(&self, position: usize, element: String) -> Spot {
        Spot { file: self.file.clone(), line: self.line(position), element }
    }

    /// Everything that was not asked for.
    pub(super) fn unread(&self, reasons: Reasons) -> Vec<Note> {
        let mut notes = Vec::new();
        let (elements, attributes) = (self.elements.borrow(), self.attributes.borrow());
        let mut waiting = vec![self.document.root_element()];
        while let Some(node) = waiting.pop() {
            let element = Element { node, xml: self };
            let mut note = |attribute: Option<&str>, position| {
                notes.push(Note {
                    line: self.line(position),
                    element: element.tag().into(),
                    attribute: attribute.map(Into::into),
                    outcome: Outcome::Ignored,
                    reason: reasons(element.tag(), attribute).into(),
                });
            };
            if !elements.contains(&node.id().get_usize()) {
                // A class of defaults that no element uses has no effect.
                if !element.is_default() {
                    note(None, node.range().start);
                }
                continue;
            }
            for attribute in node.attributes() {
                let position = attribute.range().start;
                if !attributes.contains(&position) {
                    note(Some(attribute.name()), position);
                }
            }
            waiting.extend(node.children().filter(Node::is_element));
        }
        notes.sort_by_key(|n| n.line);
        notes
    }
}

/// What the parser says, with a line where it gives none.
fn malformed(text: &str, file: &Path, error: &Error) -> ImportError {
    let ends = matches!(error, Error::UnclosedRootNode | Error::UnexpectedEndOfStream);
    let (line, column) = if ends {
        let last = text.rsplit('\n').next().unwrap_or_default();
        (1 + text.matches('\n').count(), 1 + last.chars().count())
    } else {
        (error.pos().row as usize, error.pos().col as usize)
    };
    let message = match error {
        Error::DtdDetected => "document type declarations (and so entities) are refused".into(),
        Error::UnclosedRootNode | Error::UnexpectedEndOfStream => {
            "the file ends within an element: it was cut".into()
        }
        other => short(&other.to_string()),
    };
    let spot = Spot { file: file.into(), line, element: String::new() };
    ImportError::new(spot, Problem::Xml { column, message })
}

/// On one line, at most 120 characters.
pub(super) fn short(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(120) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    }
}

impl<'x> Element<'x> {
    /// Its tag.
    pub(super) fn tag(self) -> &'x str {
        self.node.tag_name().name()
    }

    /// Whether it is a macro of xacro, by its namespace.
    pub(super) fn is_macro(self) -> bool {
        self.node.tag_name().namespace().is_some_and(|n| n.contains("xacro"))
    }

    /// Line where it starts.
    pub(super) fn line(self) -> usize {
        self.xml.line(self.node.range().start)
    }

    /// Marks it as read.
    pub(super) fn visit(self) {
        self.xml.elements.borrow_mut().insert(self.node.id().get_usize());
    }

    /// An attribute, marked as read.
    pub(super) fn attribute(self, name: &str) -> Option<&'x str> {
        let attribute = self.node.attribute_node(name)?;
        self.xml.attributes.borrow_mut().insert(attribute.range().start);
        Some(attribute.value())
    }

    /// Its child elements, none of them marked.
    pub(super) fn children(self) -> impl Iterator<Item = Element<'x>> {
        let xml = self.xml;
        self.node.children().filter(Node::is_element).map(move |node| Element { node, xml })
    }

    /// The children of a tag, marked as read.
    pub(super) fn all(self, tag: &'static str) -> impl Iterator<Item = Element<'x>> {
        self.children().filter(move |c| c.tag() == tag).inspect(|c| c.visit())
    }

    /// The only child of a tag, marked as read, if there is one.
    pub(super) fn only(self, tag: &'static str) -> Result<Option<Element<'x>>, ImportError> {
        let mut found = self.all(tag);
        let first = found.next();
        match (first, found.next()) {
            (Some(first), Some(second)) => {
                let what = format!("<{tag}>");
                Err(second.error(Problem::Twice { what, first: first.line() }))
            }
            _ => Ok(first),
        }
    }

    /// The only child of a tag, marked as read.
    pub(super) fn needed(self, tag: &'static str) -> Result<Element<'x>, ImportError> {
        let missing = || self.error(Problem::Missing { what: format!("<{tag}>") });
        self.only(tag)?.ok_or_else(missing)
    }

    /// What an outcome of a part of this element is noted as.
    pub(super) fn note(self, attribute: Option<&str>, outcome: Outcome, reason: String) -> Note {
        let attribute = attribute.map(Into::into);
        Note { line: self.line(), element: self.label(), attribute, outcome, reason }
    }

    /// Where it stands.
    pub(super) fn spot(self) -> Spot {
        self.xml.spot_at(self.node.range().start, self.label())
    }

    /// An error at it.
    pub(super) fn error(self, problem: Problem) -> ImportError {
        ImportError::new(self.spot(), problem)
    }

    /// Tag and name, of it or of the nearest element around it that has a name.
    fn label(self) -> String {
        let named = |node: &Node<'x, 'x>| node.attribute("name").map(short);
        let tag = self.tag();
        if let Some(name) = named(&self.node) {
            return format!("{tag} '{name}'");
        }
        let around = self.node.ancestors().skip(1).filter(Node::is_element);
        let mut around = around.filter(|n| n.parent_element().is_some());
        match around.find_map(|n| named(&n).map(|name| (n.tag_name().name(), name))) {
            Some((owner, name)) => format!("{tag} of {owner} '{name}'"),
            None => tag.into(),
        }
    }

    /// Whether it stands in a class of defaults.
    fn is_default(self) -> bool {
        self.node.ancestors().any(|n| n.tag_name().name() == "default")
    }
}
