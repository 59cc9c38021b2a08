//! The messages of Protocol Buffers as derived from the schemas.

/// What ends the messages of both versions.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct Tail {
    #[prost(fixed64, tag = "1")]
    pub(crate) node_count: u64,
    #[prost(fixed64, tag = "2")]
    pub(crate) term_count: u64,
    #[prost(fixed64, tag = "3")]
    pub(crate) text_bytes: u64,
    #[prost(fixed32, optional, tag = "4")]
    pub(crate) crc32: Option<u32>,
}

/// `proto/dictionary_v1.proto`.
pub(crate) mod v1 {
    #[derive(Clone, PartialEq, prost::Message)]
    pub(crate) struct Dictionary {
        #[prost(uint32, tag = "1")]
        pub(crate) version: u32,
        #[prost(bool, tag = "2")]
        pub(crate) valued: bool,
        #[prost(message, repeated, tag = "3")]
        pub(crate) nodes: Vec<Node>,
        #[prost(message, repeated, tag = "4")]
        pub(crate) edges: Vec<Edge>,
        #[prost(message, optional, tag = "15")]
        pub(crate) tail: Option<super::Tail>,
    }

    #[derive(Clone, Copy, PartialEq, prost::Message)]
    pub(crate) struct Node {
        #[prost(uint64, tag = "1")]
        pub(crate) id: u64,
        #[prost(bool, tag = "2")]
        pub(crate) r#final: bool,
        #[prost(uint64, tag = "3")]
        pub(crate) value: u64,
    }

    #[derive(Clone, Copy, PartialEq, prost::Message)]
    pub(crate) struct Edge {
        #[prost(uint64, tag = "1")]
        pub(crate) source_id: u64,
        #[prost(uint32, tag = "2")]
        pub(crate) label: u32,
        #[prost(uint64, tag = "3")]
        pub(crate) target_id: u64,
    }
}

/// `proto/dictionary_v2.proto`.
pub(crate) mod v2 {
    #[derive(Clone, PartialEq, prost::Message)]
    pub(crate) struct Dictionary {
        #[prost(uint32, tag = "1")]
        pub(crate) version: u32,
        #[prost(bool, tag = "2")]
        pub(crate) valued: bool,
        #[prost(uint64, repeated, tag = "3")]
        pub(crate) heads: Vec<u64>,
        #[prost(uint32, repeated, tag = "4")]
        pub(crate) labels: Vec<u32>,
        #[prost(uint64, repeated, tag = "5")]
        pub(crate) backs: Vec<u64>,
        #[prost(sint64, repeated, tag = "6")]
        pub(crate) values: Vec<i64>,
        #[prost(message, optional, tag = "15")]
        pub(crate) tail: Option<super::Tail>,
    }
}
