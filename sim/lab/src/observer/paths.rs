//! The tree of call paths.

use std::collections::HashMap;

/// No node.
pub const NONE: u32 = u32::MAX;

/// One node of the tree of call paths: a function and the path by which it was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    /// Who called it. [`NONE`] for a thread's first function and for handlers.
    pub parent: u32,
    /// First address of the function.
    pub entry: u32,
    /// Exception whose handler it is. 0 if it was called.
    pub exception: u32,
}

/// The tree of all call paths seen.
#[derive(Debug, Clone, Default)]
pub struct Paths {
    nodes: Vec<Node>,
    numbers: HashMap<(u32, u32, u32), u32>,
}

impl Paths {
    /// Returns the number of the node of a function that is called at node `parent`.
    pub fn child_node(&mut self, parent: u32, entry: u32) -> u32 {
        self.number_of_node(Node { parent, entry, exception: 0 })
    }

    /// Returns the number of the node of an exception handler.
    pub fn call_path_node_of_handler(&mut self, exception: u32, entry: u32) -> u32 {
        self.number_of_node(Node { parent: NONE, entry, exception })
    }

    /// Returns the number of the node of a function that replaces the one at node `of` by a tail call.
    pub fn call_path_node_of_tail_call(&mut self, of: u32, entry: u32) -> u32 {
        let here = self.node_with_number(of);
        self.number_of_node(Node { entry, ..here })
    }

    /// Returns the node of the call paths with this number.
    pub fn node_with_number(&self, number: u32) -> Node {
        self.nodes[number as usize]
    }

    /// Returns all nodes of the call paths. A parent's number is below its children's.
    pub fn all_call_path_nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the number of a node, which is added if it is new.
    fn number_of_node(&mut self, node: Node) -> u32 {
        let nodes = &mut self.nodes;
        *self.numbers.entry((node.parent, node.entry, node.exception)).or_insert_with(|| {
            nodes.push(node);
            nodes.len() as u32 - 1
        })
    }
}
