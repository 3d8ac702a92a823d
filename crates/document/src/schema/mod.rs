//! The relational schema as `inspect` prints it: a tree of text, and a Mermaid diagram, which the Markdown of the
//! definition document holds too.

mod mermaid;
mod tree;

pub use mermaid::mermaid;
pub use tree::tree;
