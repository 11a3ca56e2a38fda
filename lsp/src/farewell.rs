//! How a client leaves, which the protocol's library takes too literally: a `shutdown` whose parameters are null is one without parameters, and after `exit` the server ends at once, whether or not
//! its input does.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use tokio::sync::Notify;
use tower_lsp::jsonrpc::{Request, Response};
use tower_service::Service;

/// What the client has said.
#[derive(Default)]
pub struct Farewell {
    shut_down: AtomicBool,
    exit: Notify,
}

impl Farewell {
    /// Waits for `exit`.
    pub async fn exit(&self) {
        self.exit.notified().await;
    }

    /// Was there a `shutdown`? An `exit` without one is an error of the client's.
    pub fn is_orderly(&self) -> bool {
        self.shut_down.load(Ordering::Relaxed)
    }
}

/// A service that listens for it.
pub struct Listening<S> {
    /// What requests are for.
    pub service: S,
    /// What was heard.
    pub farewell: Arc<Farewell>,
}

impl<S: Service<Request, Response = Option<Response>>> Service<Request> for Listening<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.service.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> S::Future {
        let request = match request.method() {
            "shutdown" => {
                self.farewell.shut_down.store(true, Ordering::Relaxed);
                plain(request)
            }
            "exit" => {
                self.farewell.exit.notify_one();
                plain(request)
            }
            _ => request,
        };
        self.service.call(request)
    }
}

/// The request without parameters.
fn plain(request: Request) -> Request {
    let (method, id, _) = request.into_parts();
    let plain = Request::build(method);
    match id {
        Some(id) => plain.id(id).finish(),
        None => plain.finish(),
    }
}
