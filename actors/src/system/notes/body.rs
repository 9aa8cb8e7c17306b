//! The body of a note: simple HTML of `p`, `ul`, `li`, `b` and `code` without attributes. `html5gum` splits the text as browsers do;
//! whatever is not of the five, or not nested so that a browser would read the same tree, is refused. What is stored is written
//! anew from the tree, so that nothing but these tags and escaped text can be in it.

use html5gum::{Error as Fault, Token, Tokenizer};

use super::super::validate;
use crate::{
    api::Error,
    limits::{CONTENT_BYTES_MAX, NOTE_DEPTH_MAX},
};

/// One of the tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    P,
    Ul,
    Li,
    B,
    Code,
}

/// A part of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    Text(String),
    Tagged(Tag, Vec<Node>),
}

impl Tag {
    fn of(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"p" => Self::P,
            b"ul" => Self::Ul,
            b"li" => Self::Li,
            b"b" => Self::B,
            b"code" => Self::Code,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Self::P => "p",
            Self::Ul => "ul",
            Self::Li => "li",
            Self::B => "b",
            Self::Code => "code",
        }
    }

    /// Whether it may stand there; none is the body itself. Elsewhere a browser would close what is open, and read another tree.
    fn goes_into(self, parent: Option<Self>) -> bool {
        match self {
            Self::Li => parent == Some(Self::Ul),
            Self::P | Self::Ul => matches!(parent, None | Some(Self::Li)),
            Self::B | Self::Code => parent != Some(Self::Ul),
        }
    }
}

fn refused(message: &str) -> Error {
    Error::invalid("body", message)
}

/// What is being read: each open tag with what it holds so far. The first is the body itself.
struct Reading {
    open: Vec<(Option<Tag>, Vec<Node>)>,
}

impl Reading {
    fn parent(&self) -> Option<Tag> {
        self.open.last().and_then(|(tag, _)| *tag)
    }

    fn put(&mut self, node: Node) {
        if let Some((_, nodes)) = self.open.last_mut() {
            nodes.push(node);
        }
    }

    fn start(&mut self, name: &[u8]) -> Result<(), Error> {
        let tag = Tag::of(name).ok_or_else(|| refused("a body holds no tags but p, ul, li, b and code"))?;
        if !tag.goes_into(self.parent()) {
            let inside = self.parent().map_or("the body itself", Tag::name);
            return Err(refused(&format!("{} cannot stand in {inside}", tag.name())));
        }
        if self.open.len() > NOTE_DEPTH_MAX {
            return Err(refused("tags are nested too deeply").with("limit", NOTE_DEPTH_MAX));
        }
        self.open.push((Some(tag), Vec::new()));
        Ok(())
    }

    fn end(&mut self, name: &[u8]) -> Result<(), Error> {
        if self.parent().is_none_or(|tag| tag.name().as_bytes() != name) {
            return Err(refused("a tag is closed that is not the last one open"));
        }
        if let Some((Some(tag), nodes)) = self.open.pop() {
            self.put(Node::Tagged(tag, nodes));
        }
        Ok(())
    }

    fn text(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let text = std::str::from_utf8(bytes).map_err(|_| refused("the body is not UTF-8"))?;
        if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
            return Err(refused("body must not contain control characters but line ends and tabs"));
        }
        if self.parent() == Some(Tag::Ul) && !text.trim().is_empty() {
            return Err(refused("text in ul must stand in li"));
        }
        if let Some((_, nodes)) = self.open.last_mut() {
            match nodes.last_mut() {
                Some(Node::Text(before)) => before.push_str(text),
                _ => nodes.push(Node::Text(text.to_owned())),
            }
        }
        Ok(())
    }

    fn token(&mut self, token: Token) -> Result<(), Error> {
        match token {
            Token::StartTag(tag) if !tag.attributes.is_empty() => Err(refused("tags have no attributes")),
            Token::StartTag(tag) if tag.self_closing => {
                Err(refused("a tag is closed by one of its own, as in <p></p>"))
            }
            Token::StartTag(tag) => self.start(&tag.name),
            Token::EndTag(tag) => self.end(&tag.name),
            Token::String(text) => self.text(&text),
            Token::Comment(_) | Token::Doctype(_) => Err(refused("a body holds no comments and no declarations")),
            // A lone < or & is meant as it stands; what else is not HTML might be read differently elsewhere.
            Token::Error(fault) => match fault.value {
                Fault::InvalidFirstCharacterOfTagName
                | Fault::EofBeforeTagName
                | Fault::UnknownNamedCharacterReference
                | Fault::MissingSemicolonAfterCharacterReference
                | Fault::AbsenceOfDigitsInNumericCharacterReference => Ok(()),
                _ => Err(refused("the body is not well-formed HTML")),
            },
        }
    }
}

/// Reads a body, and refuses what is none.
pub(super) fn parse(html: &str) -> Result<Vec<Node>, Error> {
    validate::content("body", html)?;
    let mut reading = Reading { open: vec![(None, Vec::new())] };
    // Line ends are one character in HTML, whatever system they come from.
    let html = html.replace("\r\n", "\n").replace('\r', "\n");
    for token in Tokenizer::new(html.as_str()) {
        match token {
            Ok(token) => reading.token(token)?,
            Err(never) => match never {},
        }
    }
    match reading.open.pop() {
        Some((None, nodes)) => Ok(nodes),
        _ => Err(refused("a tag is not closed")),
    }
}

/// A body as it is stored: checked, and written anew.
pub(super) fn checked(html: &str) -> Result<String, Error> {
    let nodes = parse(html)?;
    let mut text = String::new();
    said(&nodes, &mut text);
    validate::content("body", &text)?;
    let mut clean = String::with_capacity(html.len());
    write(&nodes, &mut clean);
    if clean.len() > CONTENT_BYTES_MAX {
        return Err(Error::past_limit("body", CONTENT_BYTES_MAX as u64, "bytes"));
    }
    Ok(clean)
}

fn said(nodes: &[Node], out: &mut String) {
    for node in nodes {
        match node {
            Node::Text(text) => out.push_str(text),
            Node::Tagged(_, nodes) => said(nodes, out),
        }
    }
}

fn write(nodes: &[Node], out: &mut String) {
    for node in nodes {
        match node {
            Node::Text(text) => text.chars().for_each(|c| match c {
                '&' => out.push_str("&amp;"),
                '<' => out.push_str("&lt;"),
                '>' => out.push_str("&gt;"),
                c => out.push(c),
            }),
            Node::Tagged(tag, nodes) => {
                let name = tag.name();
                out.push_str(&format!("<{name}>"));
                write(nodes, out);
                out.push_str(&format!("</{name}>"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{checked, parse};

    // What people and agents write comes back as they wrote it.
    #[test]
    fn what_is_simple_is_kept() {
        for kept in [
            "<p>Greet by <b>name</b>, run <code>make &lt;target&gt;</code>.</p>",
            "<ul>\n<li>one</li>\n<li><p>two</p><ul><li>inner</li></ul></li>\n</ul>",
            "plain words, 返金 \"quoted\" and 'so'",
            "<p>a &amp; b</p>\n<p></p><b><code>x</code></b>",
        ] {
            assert_eq!(checked(kept).as_deref(), Ok(kept));
        }
        for (given, kept) in [
            (
                "<P>R&D, AT&T, 1 < 2 > 0 &copy; &#x3c;b&#62;</P >",
                "<p>R&amp;D, AT&amp;T, 1 &lt; 2 &gt; 0 © &lt;b&gt;</p>",
            ),
            ("a\r\nb\rc", "a\nb\nc"),
            ("&lt;script&gt;alert(1)&lt;/script&gt;", "&lt;script&gt;alert(1)&lt;/script&gt;"),
            ("x <", "x &lt;"),
        ] {
            assert_eq!(checked(given).as_deref(), Ok(kept));
        }
    }

    // The corpus of what has slipped past sanitisers: each is refused, by the field, and none is cleaned in silence.
    #[test]
    fn what_could_live_is_refused() {
        let deep = "<b>".repeat(17) + "x" + &"</b>".repeat(17);
        for hostile in [
            "<script>alert(1)</script>",
            "<SCRIPT SRC=//evil.example/x.js></SCRIPT>",
            "<img src=x onerror=alert(1)>",
            "<p onclick=alert(1)>x</p>",
            "<p style='background:url(javascript:alert(1))'>x</p>",
            "<b/onmouseover=alert(1)>x</b>",
            "<a href='javascript:alert(1)'>x</a>",
            "<svg><p><style><img src=x onerror=alert(1)></style></p></svg>",
            "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=alert(1)&gt;\">",
            "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">",
            "<p>x<!-- <script> --></p>",
            "<![CDATA[<script>]]>",
            "<!doctype html><p>x</p>",
            "<?php echo 1 ?>",
            "</3 x",
            "<p>x</p><iframe srcdoc='<script>'></iframe>",
            "<template><p>x</p></template>",
            "<html><body><p>x</p></body></html>",
            "<p/>x",
            "<p x",
            "<p>x<",
            "<p>x</p",
            "<scr<script>ipt>alert(1)</script>",
            "<p>a\0b</p>",
            "<p>&#0;</p>",
            "<p>&#x1b;[31m</p>",
            "<p>&#xd800;</p>",
            "<p>never closed",
            "closed</p>",
            "<b><p>x</p></b>",
            "<p><ul><li>x</li></ul></p>",
            "<p><p>x</p></p>",
            "<b>a<code>b</b>c</code>",
            "<li>x</li>",
            "<ul>x</ul>",
            "<ul><b>x</b></ul>",
            "<ul><ul><li>x</li></ul></ul>",
            "<h1>x</h1>",
            "<plaintext>x",
            "<xmp><p></xmp>",
            deep.as_str(),
            "<p> </p>",
            "<p>&nbsp;</p><ul><li>\u{200b}</li></ul>",
            "",
        ] {
            let error = checked(hostile).expect_err(hostile);
            assert_eq!(error.fields["field"], "body", "{hostile}");
            assert!(!error.message.contains("alert"), "{}", error.message);
        }
    }

    // What is stored is measured as it is stored, or a note that was loaded could not be saved again.
    #[test]
    fn the_limit_is_that_of_the_stored_text() {
        assert!(checked(&"x".repeat(32_768)).is_ok());
        for long in ["x".repeat(32_769), "&".repeat(6_554)] {
            assert_eq!(checked(&long).expect_err("too long").fields["limit"], 32_768);
        }
        assert!(checked(&"&".repeat(6_553)).is_ok());
    }

    proptest! {
        // Whatever is let through reads the same when it is read again, and has no tag but the five.
        #[test]
        fn what_is_stored_is_read_as_it_was_meant(text in r"(<?/?(p|ul|li|b|code|script|!--)? ?>?[a-z&;#x<>'\n-]{0,4}){0,12}") {
            if let Ok(clean) = checked(&text) {
                prop_assert_eq!(checked(&clean), Ok(clean.clone()));
                prop_assert_eq!(parse(&clean), parse(&text));
                for tag in clean.split('<').skip(1) {
                    let name = tag.split('>').next().unwrap_or_default().trim_start_matches('/');
                    prop_assert!(["p", "ul", "li", "b", "code"].contains(&name), "{}", clean);
                }
            }
        }
    }
}
