//! What the protocol's library does not do as clients and the protocol want it. A `shutdown` whose parameters are null is one without parameters; after `exit` the server ends at once, whether or not
//! its input does; when its input ends, the client is gone, and it ends, too, whatever is not answered yet; a request `$/...` that nobody knows is answered, only a notification is passed over; what is no
//! message is answered with what is wrong with it ([`messages`]); what is not understood of what a client says of itself is left out ([`lenient`]).

use crate::{lenient, messages};
use serde_json::Value;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::Notify;
use tower_lsp::jsonrpc::{Error, Request, Response};
use tower_service::Service;

/// What the client has said.
#[derive(Default)]
pub struct Farewell {
    shut_down: AtomicBool,
    exit: Notify,
    closed: Notify,
    why: OnceLock<String>,
}

impl Farewell {
    /// Waits for `exit`.
    pub async fn exit(&self) {
        self.exit.notified().await;
    }

    /// Waits for the end of the input.
    pub async fn closed(&self) {
        self.closed.notified().await;
    }

    /// What comes cannot be read any more: as if the input had ended, but for the reason.
    pub fn give_up(&self, why: String) {
        let _ = self.why.set(why);
        self.closed.notify_one();
    }

    /// Why the input cannot be read any more, where that is so.
    pub fn why(&self) -> Option<String> {
        self.why.get().cloned()
    }

    /// Was there a `shutdown`? An `exit` without one is an error of the client's.
    pub fn is_orderly(&self) -> bool {
        self.shut_down.load(Ordering::Relaxed)
    }
}

/// The input, watched for its end.
pub struct Watched<R> {
    /// What is read.
    pub input: R,
    /// Who is told.
    pub farewell: Arc<Farewell>,
}

impl<R: AsyncRead + Unpin> AsyncRead for Watched<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = buffer.filled().len();
        let found = Pin::new(&mut self.input).poll_read(context, buffer);
        if let Poll::Ready(read) = &found
            && (read.is_err() || buffer.filled().len() == before && buffer.remaining() > 0)
        {
            self.farewell.closed.notify_one();
        }
        found
    }
}

/// A service that listens for it.
pub struct Listening<S> {
    /// What requests are for.
    pub service: S,
    /// What was heard.
    pub farewell: Arc<Farewell>,
}

impl<S> Service<Request> for Listening<S>
where
    S: Service<Request, Response = Option<Response>>,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.service.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        if request.method() == messages::UNREADABLE {
            let answer = messages::answer(&request);
            return Box::pin(async move { Ok(Some(answer)) });
        }
        if let (Some(id), true) = (request.id(), request.method().starts_with("$/")) {
            let answer = Response::from_error(id.clone(), Error::method_not_found());
            return Box::pin(async move { Ok(Some(answer)) });
        }
        let request = match request.method() {
            "shutdown" => {
                self.farewell.shut_down.store(true, Ordering::Relaxed);
                plain(request)
            }
            "initialize" => with(request, lenient::initialize),
            "exit" => {
                self.farewell.exit.notify_one();
                plain(request)
            }
            _ => request,
        };
        Box::pin(self.service.call(request))
    }
}

/// The request without parameters.
fn plain(request: Request) -> Request {
    with(request, |_| None)
}

/// The request with other parameters.
fn with(request: Request, other: impl FnOnce(Option<Value>) -> Option<Value>) -> Request {
    let (method, id, params) = request.into_parts();
    let mut made = Request::build(method);
    if let Some(id) = id {
        made = made.id(id);
    }
    match other(params) {
        Some(params) => made.params(params).finish(),
        None => made.finish(),
    }
}
