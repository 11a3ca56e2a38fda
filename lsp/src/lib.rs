//! The language server: the front end and the schedulers behind the Language Server Protocol.
//!
//! [`convert`] alone knows of the protocol's places; [`world`] keeps documents and analyses; each file of [`feature`] answers one kind of request, as a
//! function of a [`world::view::View`]; [`server`] hands requests to them. docs/lsp.md says what a user sees.

mod capabilities;
pub mod convert;
mod farewell;
pub mod feature;
mod news;
pub mod server;
pub mod world;

use farewell::{Farewell, Listening, Watched};
use std::sync::Arc;
use std::time::Duration;
use tower_lsp::Server;

/// Requests that are answered at the same time, at most.
const REQUESTS: usize = 16;

/// Stack of the threads that answer: trees may be a thousand levels high.
const STACK: usize = 64 << 20;

/// What is on its way to the client when it says `exit` has so long to get there.
const LAST_WORDS: Duration = Duration::from_millis(50);

/// What the client has asked for before it closed the server's input is answered within so long, or not at all.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// Serves a client over standard input and output, until it says `exit` or is gone. `false`: it said `exit` without `shutdown`.
pub fn serve() -> std::io::Result<bool> {
    let runtime = runtime()?;
    let farewell = Arc::new(Farewell::default());
    let orderly = runtime.block_on(async {
        let (service, socket) = server::service();
        let input = Watched { input: tokio::io::stdin(), farewell: farewell.clone() };
        let output = tokio::io::stdout();
        let listening = Listening { service, farewell: farewell.clone() };
        let server = Server::new(input, output, socket).concurrency_level(REQUESTS).serve(listening);
        tokio::select! {
            biased;
            () = farewell.exit() => {
                tokio::time::sleep(LAST_WORDS).await;
                farewell.is_orderly()
            }
            () = server => true,
            // the library goes on until all is said, and what nobody reads never is
            () = given_up(&farewell) => true,
        }
    });
    // a read of standard input may never end
    runtime.shutdown_background();
    Ok(orderly)
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
