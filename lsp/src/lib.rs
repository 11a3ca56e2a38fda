//! The language server: the front end and the schedulers behind the Language Server Protocol.
//!
//! [`convert`] alone knows of the protocol's places; [`world`] keeps documents and analyses; each file of [`feature`] answers one kind of request, as a
//! function of a [`world::view::View`]; [`server`] hands requests to them. docs/lsp.md says what a user sees.

mod capabilities;
pub mod convert;
mod farewell;
pub mod feature;
mod lenient;
mod messages;
mod news;
pub mod server;
pub mod world;

use farewell::{Farewell, Listening, Watched};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tower_lsp::Server;

/// Requests that are answered at the same time, at most.
const REQUESTS: usize = 16;

/// Stack of the threads that answer: trees may be a thousand levels high.
const STACK: usize = 64 << 20;

/// What is on its way to the client when it says `exit` has so long to get there.
const LAST_WORDS: Duration = Duration::from_millis(50);

/// What the client has asked for before it closed the server's input is answered within so long, or not at all.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// What may wait between the client's input and those who read its messages, in bytes.
const WAITING: usize = 1 << 18;

/// Serves a client over standard input and output, until it says `exit` or is gone. `false`: it said `exit` without `shutdown`. An error: what it sent could not be read, and not be passed over.
pub fn serve() -> std::io::Result<bool> {
    let runtime = runtime()?;
    let orderly = runtime.block_on(serve_over(tokio::io::stdin(), tokio::io::stdout()));
    // a read of standard input may never end
    runtime.shutdown_background();
    orderly
}

/// The same over any input and output, within a runtime.
pub async fn serve_over<I, O>(input: I, output: O) -> std::io::Result<bool>
where
    I: AsyncRead + Unpin + Send + 'static,
    O: AsyncWrite,
{
    let farewell = Arc::new(Farewell::default());
    let (service, socket) = server::service();
    let watched = Watched { input, farewell: farewell.clone() };
    let (sound, read) = tokio::io::duplex(WAITING);
    let heard = farewell.clone();
    let passing = tokio::spawn(async move {
        let ended = messages::pass(watched, sound).await;
        if let Err(why) = ended {
            heard.give_up(why);
        }
    });
    let listening = Listening { service, farewell: farewell.clone() };
    let server = Server::new(read, output, socket).concurrency_level(REQUESTS).serve(listening);
    let orderly = tokio::select! {
        biased;
        () = farewell.exit() => {
            tokio::time::sleep(LAST_WORDS).await;
            farewell.is_orderly()
        }
        () = server => true,
        // the library goes on until all is said, and what nobody reads never is
        () = given_up(&farewell) => true,
    };
    passing.abort();
    match farewell.why() {
        Some(why) => Err(std::io::Error::other(why)),
        None => Ok(orderly),
    }
}

/// Waits until the input has been at its end for a while.
async fn given_up(farewell: &Farewell) {
    farewell.closed().await;
    tokio::time::sleep(LAST_ANSWERS).await;
}

/// What the server runs in.
pub fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(16)
        .thread_stack_size(STACK)
        .enable_all()
        .build()
}
