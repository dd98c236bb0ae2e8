//! Captured graphs. What is captured is counted, not kept: launching a graph computes nothing.

use crate::errors::Error;
use std::collections::BTreeMap;

/// The graph that a stream is recording.
#[derive(Clone, Copy)]
pub struct Capture {
    stream: u64,
    pub id: u64,
    pub graph: u64,
}

/// All graphs.
#[derive(Default)]
pub struct Graphs {
    created: u64,
    capture: Option<Capture>,
    /// The number of nodes of each graph and of each executable graph.
    nodes: BTreeMap<u64, u64>,
}

impl Graphs {
    /// Starts a capture, into a new graph or a given one.
    pub fn begin(&mut self, stream: u64, graph: Option<u64>) -> Result<(), Error> {
        if stream == 0 {
            return Err(Error::CAPTURE_UNSUPPORTED);
        }
        if self.capture.is_some() {
            return Err(Error::ILLEGAL_STATE);
        }
        let graph = match graph {
            Some(graph) => self.nodes.contains_key(&graph).then_some(graph).ok_or(Error::INVALID_RESOURCE_HANDLE)?,
            None => self.create(0),
        };
        self.created += 1;
        self.capture = Some(Capture { stream, id: self.created, graph });
        Ok(())
    }

    /// Ends the capture of a stream: its graph.
    pub fn end(&mut self, stream: u64) -> Result<u64, Error> {
        let capture = self.capture(stream).ok_or(Error::INVALID_VALUE)?;
        self.capture = None;
        Ok(capture.graph)
    }

    /// What a stream is recording.
    pub fn capture(&self, stream: u64) -> Option<Capture> {
        self.capture.filter(|capture| capture.stream == stream)
    }

    /// Whether a stream is recording; if so, its graph has one node more.
    pub fn captured(&mut self, stream: u64) -> bool {
        let Some(capture) = self.capture(stream) else { return false };
        if let Some(nodes) = self.nodes.get_mut(&capture.graph) {
            *nodes += 1;
        }
        true
    }

    pub fn instantiate(&mut self, graph: u64) -> Result<u64, Error> {
        let nodes = self.nodes(graph)?;
        Ok(self.create(nodes))
    }

    pub fn nodes(&self, graph: u64) -> Result<u64, Error> {
        self.nodes.get(&graph).copied().ok_or(Error::INVALID_RESOURCE_HANDLE)
    }

    pub fn destroy(&mut self, graph: u64) -> Result<(), Error> {
        self.nodes.remove(&graph).map(|_| ()).ok_or(Error::INVALID_RESOURCE_HANDLE)
    }

    fn create(&mut self, nodes: u64) -> u64 {
        self.created += 1;
        self.nodes.insert(self.created, nodes);
        self.created
    }
}

#[cfg(test)]
mod tests {
    use super::Graphs;
    use crate::errors::Error;

    #[test]
    fn a_stream_records_until_its_capture_ends() {
        let mut graphs = Graphs::default();
        assert_eq!(graphs.begin(0, None), Err(Error::CAPTURE_UNSUPPORTED));
        graphs.begin(0x1010, None).unwrap();
        assert!(graphs.captured(0x1010) && !graphs.captured(0x1020));
        assert_eq!(graphs.end(0x1020), Err(Error::INVALID_VALUE));
        let graph = graphs.end(0x1010).unwrap();
        assert!(!graphs.captured(0x1010));
        let executable = graphs.instantiate(graph).unwrap();
        graphs.destroy(graph).unwrap();
        assert_eq!((graphs.nodes(executable), graphs.nodes(graph)), (Ok(1), Err(Error::INVALID_RESOURCE_HANDLE)));
    }
}
