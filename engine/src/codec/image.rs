//! The image of a trie, whose layout is in `FORMAT.md`. Here it is decoded like the other formats; what it is made
//! for is to be opened in place, with [`Image::open`] or [`Image::from_bytes`].

use super::out::Out;
use super::receiver::Receiver;
use super::source::Order;
use super::{Capacity, Error, Expected, Format, Result, Sink, Source};
use crate::trie::{Image, Stored, Value, Verify, image_to_bytes};

pub(super) fn encode<S: Source + ?Sized>(source: &S, out: &mut Out<'_>) -> Result<()> {
    let image =
        if source.has_values() { bytes_of::<S, u64>(source, |it| it) } else { bytes_of(source, |_| ()) }?;
    if out.is_streaming() {
        out.push(&image);
    } else {
        *out.held() = image;
    }
    out.settle()
}

fn bytes_of<S: Source + ?Sized, V: Value>(source: &S, value_of: fn(u64) -> V) -> Result<Vec<u8>> {
    let mut order = Order::of(source);
    image_to_bytes::<char, V, Error>(|push| {
        source.for_each(|term, value| {
            order.check(term.as_bytes())?;
            Ok(push(term, value_of(value))?)
        })
    })
}

pub(super) fn decode<S: Sink>(bytes: &[u8], capacity: Capacity, receiver: Receiver<'_, S>) -> Result<()> {
    // Byte 14 of the header is the width of values; whether it is a header is for the image to say.
    if bytes.get(14) == Some(&<u64 as Value>::WIDTH) {
        walk::<S, u64>(bytes, capacity, receiver, |it| it)
    } else {
        walk::<S, ()>(bytes, capacity, receiver, |()| 0)
    }
}

fn walk<S: Sink, V>(
    bytes: &[u8],
    capacity: Capacity,
    mut receiver: Receiver<'_, S>,
    value_of: fn(V) -> u64,
) -> Result<()>
where
    V: Value + for<'i> Stored<Read<'i> = V>,
{
    let image = Image::<char, V>::from_bytes(bytes.to_vec(), Verify::Full).map_err(located)?;
    let expected = match capacity {
        // The image does not say how long its terms are.
        Capacity::Exact => {
            Expected { terms: image.len().min(bytes.len() as u64) as usize, text: bytes.len() }
        }
        Capacity::Growing => Expected::default(),
    };
    receiver.start(<V as Value>::WIDTH > 0, expected)?;
    let (nodes, mut before) = (image.nodes_start(), Vec::new());
    let mut cursor = image.cursor();
    let mut more = cursor.first().map_err(located)?;
    while let (true, Some(term), Some(value)) = (more, cursor.key(), cursor.value().map_err(located)?) {
        receiver.order(&before, term, nodes)?;
        receiver.composed(term, value_of(value), nodes)?;
        before.clear();
        before.extend_from_slice(term);
        more = cursor.next().map_err(located)?;
    }
    if receiver.terms() != image.len() {
        let reason = format!("the header promises {} terms, found {}", image.len(), receiver.terms());
        return Err(receiver.malformed(24, reason));
    }
    Ok(())
}

/// An error of an image as one of its bytes, which are no file.
fn located(error: crate::Error) -> Error {
    let (offset, reason) = match &error {
        crate::Error::Corrupt { offset, reason, .. } => (*offset, reason.clone()),
        crate::Error::Unsupported { offset, found, .. } => {
            (*offset, format!("found {found}, which needs another build"))
        }
        crate::Error::Foreign { found, .. } => {
            (0, format!("it is no image of this engine, it begins with {found}"))
        }
        crate::Error::Version { found, newest, .. } => {
            let (found, known) = (u64::from(*found), u64::from(*newest));
            return Error::Version { format: Format::Image, offset: 8, found, known };
        }
        crate::Error::KeyKind { found, .. } => (13, format!("its keys are {found}, terms are chars")),
        crate::Error::ValueWidth { found, .. } => {
            (14, format!("its values have {found} bytes, those of a dictionary have 0 or 8"))
        }
        _ => return Error::Trie(error),
    };
    Error::Malformed { format: Format::Image, offset, reason }
}
