//! Connections that are given up when the other side falls silent: a stopped server, or a firewall that forgot the
//! connection, keeps it open for hours and says nothing.
//!
//! The system's own limits see only what is not acknowledged, and a server that is stopped still acknowledges.

use postgres::Socket;
use postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use std::future::{Ready, ready};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// Silence is counted in so many parts. A connection that nobody waits for is not polled, so that a pause of its user
/// counts as one part, however long it is.
const PARTS: u32 = 10;

/// A connector that gives every connection a limit of silence, encrypted by `C` or not at all.
#[derive(Clone)]
pub(super) struct Connector<C> {
    pub(super) inner: C,
    pub(super) silence: Duration,
}

/// No encryption. The library has no other place to put a stream of one's own than that of TLS.
#[derive(Clone)]
pub(super) struct Plain;

impl MakeTlsConnect<Socket> for Connector<Plain> {
    type Stream = Patient<Socket>;
    type TlsConnect = Self;
    type Error = io::Error;

    fn make_tls_connect(&mut self, _host: &str) -> io::Result<Self> {
        Ok(self.clone())
    }
}

impl TlsConnect<Socket> for Connector<Plain> {
    type Stream = Patient<Socket>;
    type Error = io::Error;
    type Future = Ready<io::Result<Patient<Socket>>>;

    fn connect(self, stream: Socket) -> Self::Future {
        ready(Ok(Patient::new(stream, self.silence)))
    }
}

/// Encrypted by `C`, over a patient connection.
#[derive(Clone)]
pub(super) struct Over<C>(pub(super) C);

impl<C: MakeTlsConnect<Patient<Socket>>> MakeTlsConnect<Socket> for Connector<Over<C>> {
    type Stream = C::Stream;
    type TlsConnect = Connector<Over<C::TlsConnect>>;
    type Error = C::Error;

    fn make_tls_connect(&mut self, host: &str) -> Result<Self::TlsConnect, C::Error> {
        let inner = Over(self.inner.0.make_tls_connect(host)?);
        Ok(Connector { inner, silence: self.silence })
    }
}

impl<C: TlsConnect<Patient<Socket>>> TlsConnect<Socket> for Connector<Over<C>> {
    type Stream = C::Stream;
    type Error = C::Error;
    type Future = C::Future;

    fn connect(self, stream: Socket) -> Self::Future {
        self.inner.0.connect(Patient::new(stream, self.silence))
    }
}

/// A stream whose reads fail after a silence.
pub(super) struct Patient<S> {
    stream: S,
    part: Duration,
    tick: Pin<Box<Sleep>>,
    silent: u32,
}

impl<S> Patient<S> {
    fn new(stream: S, silence: Duration) -> Self {
        let part = silence / PARTS;
        Self { stream, part, tick: Box::pin(sleep(part)), silent: 0 }
    }

    fn heard<T>(&mut self, result: T) -> Poll<T> {
        self.silent = 0;
        self.tick.as_mut().reset(Instant::now() + self.part);
        Poll::Ready(result)
    }

    /// Whether it is silent for too long by now; asks to be woken at the next part.
    fn is_over(&mut self, context: &mut Context<'_>) -> bool {
        while self.tick.as_mut().poll(context).is_ready() {
            self.silent += 1;
            if self.silent >= PARTS {
                return true;
            }
            self.tick.as_mut().reset(Instant::now() + self.part);
        }
        false
    }

    fn failure(&self) -> io::Error {
        let seconds = (self.part * PARTS).as_secs_f64();
        io::Error::new(io::ErrorKind::TimedOut, format!("the server said nothing for {seconds} s"))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.stream).poll_read(context, buffer) {
            Poll::Ready(result) => self.heard(result),
            Poll::Pending if self.is_over(context) => Poll::Ready(Err(self.failure())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match Pin::new(&mut self.stream).poll_write(context, bytes) {
            Poll::Ready(result) => self.heard(result),
            Poll::Pending => Poll::Pending,
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Patient<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}
