//! The language server: the front end and the schedulers behind the Language Server Protocol.
//!
//! [`convert`] alone knows of the protocol's places; [`world`] keeps documents and analyses; each file of [`feature`] answers one kind of request, as a
//! function of a [`world::view::View`]; [`server`] hands requests to them. docs/lsp.md says what a user sees.

mod capabilities;
pub mod convert;
pub mod feature;
pub mod server;
pub mod world;

use tower_lsp::Server;

/// Requests that are answered at the same time, at most.
const REQUESTS: usize = 16;

/// Stack of the threads that answer: trees may be a thousand levels high.
const STACK: usize = 64 << 20;

/// Serves a client over standard input and output, until it says `exit` or is gone.
pub fn serve() -> std::io::Result<()> {
    let runtime = runtime()?;
    runtime.block_on(async {
        let (service, socket) = server::service();
        let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
        Server::new(input, output, socket).concurrency_level(REQUESTS).serve(service).await;
    });
    // a read of standard input may never end
    runtime.shutdown_background();
    Ok(())
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
