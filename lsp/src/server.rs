//! # server
//!
//! Purpose: the protocol's requests to features, and back. Nothing is decided here: documents are told to the [`World`] in the order in which they come, before anything is waited
//! for; answers are made by [`crate::feature`] in threads that may block. A panic in one of them is logged and answered with nothing.

use crate::capabilities::capabilities;
use crate::convert::{Encoding, name};
use crate::feature::selection_range::selection;
use crate::feature::*;
use crate::news::News;
use crate::world::World;
use crate::world::settings::Settings;
use crate::world::view::View;
use serde_json::{Value, json};
use sluice_schedule::method::Method;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tokio::runtime::Handle;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::lsp_types::*;
use tower_lsp::{Client, ClientSocket, LanguageServer, LspService};

/// When hints were overtaken by news the client is told once more to ask, after so long.
const AGAIN: std::time::Duration = std::time::Duration::from_millis(100);

/// The server.
#[derive(Clone)]
pub struct Server {
    client: Client,
    world: Arc<World>,
    can: Arc<Can>,
}

/// What the client can do.
#[derive(Default)]
pub(crate) struct Can {
    snippets: AtomicBool,
    pub refresh_hints: AtomicBool,
    pub refresh_lenses: AtomicBool,
    watch: AtomicBool,
    plain_hovers: AtomicBool,
    plain_items: AtomicBool,
    plain_signatures: AtomicBool,
    nested_symbols: AtomicBool,
    hints_off: Mutex<Option<Settings>>,
    /// The settings with which the session began.
    begun: OnceLock<Settings>,
}

/// The service and its way to the client, within a runtime.
pub fn service() -> (LspService<Server>, ClientSocket) {
    let make = |client: Client| {
        let can = Arc::new(Can::default());
        let place = Arc::new(OnceLock::new());
        let news = News {
            client: client.clone(),
            runtime: Handle::current(),
            can: can.clone(),
            world: place.clone(),
            shown: Arc::default(),
            order: Arc::default(),
        };
        let world = World::new(Box::new(news));
        let _ = place.set(Arc::downgrade(&world));
        Server { client, world, can }
    };
    LspService::build(make)
        .custom_method("sluice/graph", Server::graph)
        .custom_method("sluice/schedule", Server::schedule)
        .finish()
}

impl Server {
    /// The world, for tests and benchmarks that look at it from outside.
    pub fn world(&self) -> &Arc<World> {
        &self.world
    }

    /// Answers a request about a document: `work` gets a view of it, in a thread that may block.
    async fn about<T, F>(&self, uri: &Url, work: F) -> Result<Option<T>>
    where
        T: Send + 'static,
        F: FnOnce(&View) -> Option<T> + Send + 'static,
    {
        let (world, name) = (self.world.clone(), name(uri));
        self.guarded(move || world.view(&name).and_then(|view| work(&view))).await
    }

    /// Works in a thread that may block; a panic is logged, and answered with nothing.
    pub async fn guarded<T, F>(&self, work: F) -> Result<Option<T>>
    where
        T: Send + 'static,
        F: FnOnce() -> Option<T> + Send + 'static,
    {
        match tokio::task::spawn_blocking(work).await {
            Ok(answer) => Ok(answer),
            Err(e) => {
                let why = match e.try_into_panic() {
                    Ok(panic) => panic_text(&*panic),
                    Err(e) => e.to_string(),
                };
                self.client.log_message(MessageType::ERROR, format!("a request failed inside: {why}")).await;
                Ok(None)
            }
        }
    }

    /// The same at a position.
    async fn at<T, F>(&self, at: &TextDocumentPositionParams, work: F) -> Result<Option<T>>
    where
        T: Send + 'static,
        F: FnOnce(&View, u32) -> Option<T> + Send + 'static,
    {
        let position = at.position;
        self.about(&at.text_document.uri, move |view| work(view, view.text().offset(position))).await
    }

    /// `sluice/graph`
    async fn graph(&self, asked: picture::Asked) -> Result<Option<picture::Picture>> {
        self.about(&asked.text_document.uri, picture::graph).await
    }

    /// `sluice/schedule`
    async fn schedule(&self, asked: picture::Asked) -> Result<Option<picture::Picture>> {
        let method = match asked.method.as_deref().map(|m| (m, Method::ALL.iter().find(|k| k.name() == m))) {
            Some((name, None)) => return Err(Error::invalid_params(format!("there is no method `{name}`"))),
            Some((_, method)) => method.copied(),
            None => None,
        };
        let (world, name) = (self.world.clone(), name(&asked.text_document.uri));
        let found = self
            .guarded(move || {
                let view = world.view(&name)?;
                let ready = view.schedule.as_ref().filter(|s| method.is_none() && (s.current || s.of.result.is_ok()));
                let scheduled = match (ready, view.good.is_some()) {
                    (Some(s), _) => s.of.clone(),
                    (None, false) => return None,
                    (None, true) => match world.schedule(&name, method.unwrap_or(Method::Hms)) {
                        Ok(s) => s,
                        Err(why) => return Some(Err(why)),
                    },
                };
                Some(picture::schedule(&world.view(&name)?, &scheduled))
            })
            .await?;
        match found {
            None => Ok(None),
            Some(Ok(picture)) => Ok(Some(picture)),
            Some(Err(why)) => Err(failed(why)),
        }
    }

    /// Takes settings, if there are any. An object without any takes back what was sent since the start: Emacs sends one as soon as a session has begun, and means nothing by it.
    async fn configure(&self, value: &Value) {
        if value.is_null() {
            return;
        }
        let (settings, wrong) = match value.as_object().is_some_and(serde_json::Map::is_empty) {
            true => (self.can.begun.get().cloned().unwrap_or_default(), Vec::new()),
            false => Settings::read(value),
        };
        *self.can.hints_off.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.world.set(settings);
        self.complain(wrong).await;
    }

    async fn complain(&self, wrong: Vec<String>) {
        for text in wrong {
            self.client.log_message(MessageType::WARNING, format!("settings: {text}")).await;
        }
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_string());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no reason is known".into())
}

fn failed(why: String) -> Error {
    Error { code: tower_lsp::jsonrpc::ErrorCode::ServerError(-32803), message: why.into(), data: None }
}

#[tower_lsp::async_trait]
impl LanguageServer for Server {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        let c = &params.capabilities;
        let encoding = Encoding::negotiate(c.general.as_ref().and_then(|g| g.position_encodings.as_deref()));
        let workspace = c.workspace.as_ref();
        let document = c.text_document.as_ref();
        let snippets = || document?.completion.as_ref()?.completion_item.as_ref()?.snippet_support;
        let hints = || workspace?.inlay_hint.as_ref()?.refresh_support;
        let lenses = || workspace?.code_lens.as_ref()?.refresh_support;
        let watch = || workspace?.did_change_watched_files.as_ref()?.dynamic_registration;
        self.can.snippets.store(snippets().unwrap_or(false), Ordering::Relaxed);
        self.can.refresh_hints.store(hints().unwrap_or(false), Ordering::Relaxed);
        self.can.refresh_lenses.store(lenses().unwrap_or(false), Ordering::Relaxed);
        self.can.watch.store(watch().unwrap_or(false), Ordering::Relaxed);
        let nested = || document?.document_symbol.as_ref()?.hierarchical_document_symbol_support;
        self.can.nested_symbols.store(nested().unwrap_or(false), Ordering::Relaxed);
        // one that does not say takes what there is
        let plain =
            |f: Option<&Vec<MarkupKind>>| f.is_some_and(|f| !f.is_empty() && !f.contains(&MarkupKind::Markdown));
        let hovers = || document?.hover.as_ref()?.content_format.as_ref();
        let items = || document?.completion.as_ref()?.completion_item.as_ref()?.documentation_format.as_ref();
        let signatures =
            || document?.signature_help.as_ref()?.signature_information.as_ref()?.documentation_format.as_ref();
        self.can.plain_hovers.store(plain(hovers()), Ordering::Relaxed);
        self.can.plain_items.store(plain(items()), Ordering::Relaxed);
        self.can.plain_signatures.store(plain(signatures()), Ordering::Relaxed);
        let path = |uri: &Url| uri.to_file_path().ok();
        #[allow(deprecated)] // older clients have no folders
        let folders: Vec<PathBuf> = match &params.workspace_folders {
            Some(folders) => folders.iter().filter_map(|f| path(&f.uri)).collect(),
            None => params.root_uri.iter().filter_map(path).collect(),
        };
        let (settings, wrong) = params.initialization_options.as_ref().map(Settings::read).unwrap_or_default();
        let _ = self.can.begun.set(settings.clone());
        self.world.begin(encoding, folders, settings);
        self.complain(wrong).await;
        let server_info = ServerInfo { name: "sluice".into(), version: Some(env!("CARGO_PKG_VERSION").into()) };
        Ok(InitializeResult { capabilities: capabilities(encoding), server_info: Some(server_info) })
    }

    async fn initialized(&self, _: InitializedParams) {
        let world = self.world.clone();
        let looked = move || {
            world.look_around();
            Some(())
        };
        let _ = self.guarded(looked).await;
        if self.can.watch.load(Ordering::Relaxed) {
            let watcher = |glob: &str| FileSystemWatcher { glob_pattern: GlobPattern::String(glob.into()), kind: None };
            let watchers = vec![watcher("**/*.str"), watcher("**/sluice.toml")];
            let options = DidChangeWatchedFilesRegistrationOptions { watchers };
            let registration = Registration {
                id: "files".into(),
                method: "workspace/didChangeWatchedFiles".into(),
                register_options: serde_json::to_value(options).ok(),
            };
            // nothing waits for the answer of a client that may be gone
            let client = self.client.clone();
            tokio::spawn(async move { client.register_capability(vec![registration]).await });
        }
    }

    async fn shutdown(&self) -> Result<()> {
        self.world.end();
        Ok(())
    }

    async fn did_open(&self, params: DidOpenTextDocumentParams) {
        let d = params.text_document;
        if d.text.len() > crate::world::LARGEST_DOCUMENT {
            let most = crate::world::LARGEST_DOCUMENT >> 20;
            self.client
                .log_message(
                    MessageType::WARNING,
                    format!("{} is larger than {most} MiB: nothing is said about it", d.uri),
                )
                .await;
        }
        self.world.open(&name(&d.uri), d.uri, d.version, d.text);
    }

    async fn did_change(&self, params: DidChangeTextDocumentParams) {
        let d = params.text_document;
        if !self.world.change(&name(&d.uri), d.version, &params.content_changes) {
            self.client.log_message(MessageType::WARNING, format!("{} was changed, but is not open", d.uri)).await;
        }
    }

    async fn did_close(&self, params: DidCloseTextDocumentParams) {
        // its program has no diagnostics any more once the world has let go of it; one that is still open may have the file
        self.world.close(&name(&params.text_document.uri));
    }

    async fn did_change_watched_files(&self, params: DidChangeWatchedFilesParams) {
        for change in params.changes {
            self.world.disk_changed(&name(&change.uri));
        }
    }

    async fn did_change_configuration(&self, params: DidChangeConfigurationParams) {
        // a client that sends nothing wants to be asked; it may be gone before it answers
        if params.settings.is_null() {
            let server = self.clone();
            tokio::spawn(async move {
                let item = ConfigurationItem { scope_uri: None, section: Some("sluice".into()) };
                let answer = server.client.configuration(vec![item]).await;
                server.configure(&answer.ok().and_then(|mut v| v.pop()).unwrap_or(Value::Null)).await;
            });
        } else {
            self.configure(&params.settings).await;
        }
    }

    async fn hover(&self, params: HoverParams) -> Result<Option<Hover>> {
        let plain = self.can.plain_hovers.load(Ordering::Relaxed);
        self.at(&params.text_document_position_params, move |v, o| hover::hover(v, o, plain)).await
    }

    async fn inlay_hint(&self, params: InlayHintParams) -> Result<Option<Vec<InlayHint>>> {
        let uri = params.text_document.uri;
        let document = name(&uri);
        // nothing known is not the same as no hints: Neovim keeps an empty list, and may not look at the next one
        let work = move |view: &View| {
            let hints = inlay_hint::inlay_hints(view, view.text().bytes(params.range));
            (view.latest.is_some() || view.good.is_some() || !hints.is_empty()).then_some(hints)
        };
        let mut answer;
        let mut overtaken = false;
        loop {
            let before = self.world.landed(&document);
            answer = self.about(&uri, work).await?;
            if overtaken || self.world.landed(&document) == before {
                break;
            }
            overtaken = true;
        }
        if overtaken && self.can.refresh_hints.load(Ordering::Relaxed) {
            // the client was told to ask again while this was on its way, and may take it for the answer to that
            let client = self.client.clone();
            tokio::spawn(async move {
                tokio::time::sleep(AGAIN).await;
                client.inlay_hint_refresh().await
            });
        }
        Ok(answer)
    }

    async fn goto_definition(&self, params: GotoDefinitionParams) -> Result<Option<GotoDefinitionResponse>> {
        let found = self.at(&params.text_document_position_params, definition::definition).await?;
        Ok(found.map(GotoDefinitionResponse::Scalar))
    }

    async fn references(&self, params: ReferenceParams) -> Result<Option<Vec<Location>>> {
        let declaration = params.context.include_declaration;
        let world = self.world.clone();
        let work =
            move |v: &View, o| Some(references::references(v, o, declaration, &|file| world.programs_with(file)));
        self.at(&params.text_document_position, work).await
    }

    async fn document_highlight(&self, params: DocumentHighlightParams) -> Result<Option<Vec<DocumentHighlight>>> {
        self.at(&params.text_document_position_params, |v, o| Some(highlight::highlights(v, o))).await
    }

    async fn prepare_rename(&self, params: TextDocumentPositionParams) -> Result<Option<PrepareRenameResponse>> {
        match self.at(&params, |v, o| Some(rename::prepare(v, o))).await? {
            Some(answer) => answer.map_err(failed),
            None => Ok(None),
        }
    }

    async fn rename(&self, params: RenameParams) -> Result<Option<WorkspaceEdit>> {
        let (new, world) = (params.new_name, self.world.clone());
        let work = move |v: &View, o| {
            let (programs, manifest) = (|file: &str| world.programs_with(file), |program: &str| world.entry(program));
            Some(rename::rename(v, o, &new, &programs, &manifest))
        };
        match self.at(&params.text_document_position, work).await? {
            Some(answer) => answer.map_err(failed),
            None => Ok(None),
        }
    }

    async fn document_symbol(&self, params: DocumentSymbolParams) -> Result<Option<DocumentSymbolResponse>> {
        let uri = params.text_document.uri;
        let found = self.about(&uri, |v| Some(symbols::outline(v))).await?;
        Ok(found.map(|all| match self.can.nested_symbols.load(Ordering::Relaxed) {
            true => DocumentSymbolResponse::Nested(all),
            false => DocumentSymbolResponse::Flat(symbols::flat(&uri, all)),
        }))
    }

    async fn symbol(&self, params: WorkspaceSymbolParams) -> Result<Option<Vec<SymbolInformation>>> {
        let world = self.world.clone();
        self.guarded(move || {
            let mut all: Vec<SymbolInformation> = Vec::new();
            let mut seen = BTreeSet::new();
            let programs = world.programs();
            let open: BTreeSet<String> =
                programs.iter().flat_map(|p| p.syntax.own_files().map(|f| p.syntax.file(f).name.clone())).collect();
            let others = world.files().into_iter().filter(|f| !open.contains(f)).filter_map(|f| world.view(&f));
            for view in programs.into_iter().chain(others) {
                for s in symbols::search(&view, &params.query) {
                    let place = (s.location.uri.clone(), s.location.range.start);
                    if all.len() < symbols::MOST && seen.insert(place) {
                        all.push(s);
                    }
                }
                if all.len() >= symbols::MOST {
                    break;
                }
            }
            Some(all)
        })
        .await
    }

    async fn completion(&self, params: CompletionParams) -> Result<Option<CompletionResponse>> {
        let snippets = self.can.snippets.load(Ordering::Relaxed);
        let found =
            self.at(&params.text_document_position, move |v, o| Some(completion::completion(v, o, snippets))).await?;
        Ok(found.map(CompletionResponse::Array))
    }

    async fn completion_resolve(&self, item: CompletionItem) -> Result<CompletionItem> {
        let file = item.data.as_ref().and_then(|d| d.get("file")).and_then(Value::as_str).map(str::to_string);
        let Some(file) = file else { return Ok(item) };
        let (world, without, plain) = (self.world.clone(), item.clone(), self.can.plain_items.load(Ordering::Relaxed));
        let found = self.guarded(move || Some(completion::resolve(&world.view(&file)?, item, plain))).await?;
        Ok(found.unwrap_or(without))
    }

    async fn signature_help(&self, params: SignatureHelpParams) -> Result<Option<SignatureHelp>> {
        let plain = self.can.plain_signatures.load(Ordering::Relaxed);
        self.at(&params.text_document_position_params, move |v, o| signature_help::signature_help(v, o, plain)).await
    }

    async fn semantic_tokens_full(&self, params: SemanticTokensParams) -> Result<Option<SemanticTokensResult>> {
        let work = |v: &View| Some(semantic_tokens::tokens(v, 0..v.text().len()));
        let data = self.about(&params.text_document.uri, work).await?;
        Ok(data.map(|data| SemanticTokensResult::Tokens(SemanticTokens { result_id: None, data })))
    }

    async fn semantic_tokens_range(
        &self,
        params: SemanticTokensRangeParams,
    ) -> Result<Option<SemanticTokensRangeResult>> {
        let work = move |v: &View| Some(semantic_tokens::tokens(v, v.text().bytes(params.range)));
        let data = self.about(&params.text_document.uri, work).await?;
        Ok(data.map(|data| SemanticTokensRangeResult::Tokens(SemanticTokens { result_id: None, data })))
    }

    async fn folding_range(&self, params: FoldingRangeParams) -> Result<Option<Vec<FoldingRange>>> {
        self.about(&params.text_document.uri, |v| Some(folding::folding(v))).await
    }

    async fn selection_range(&self, params: SelectionRangeParams) -> Result<Option<Vec<SelectionRange>>> {
        let work = move |v: &View| Some(params.positions.iter().map(|p| selection(v, v.text().offset(*p))).collect());
        self.about(&params.text_document.uri, work).await
    }

    async fn formatting(&self, params: DocumentFormattingParams) -> Result<Option<Vec<TextEdit>>> {
        self.about(&params.text_document.uri, |v| Some(formatting::whole(v.text()))).await
    }

    async fn range_formatting(&self, params: DocumentRangeFormattingParams) -> Result<Option<Vec<TextEdit>>> {
        let work = move |v: &View| Some(formatting::lines(v.text(), v.text().bytes(params.range)));
        self.about(&params.text_document.uri, work).await
    }

    async fn on_type_formatting(&self, params: DocumentOnTypeFormattingParams) -> Result<Option<Vec<TextEdit>>> {
        self.at(&params.text_document_position, move |v, o| Some(formatting::typed(v, o, &params.ch))).await
    }

    async fn prepare_call_hierarchy(
        &self,
        params: CallHierarchyPrepareParams,
    ) -> Result<Option<Vec<CallHierarchyItem>>> {
        let found = self.at(&params.text_document_position_params, call_hierarchy::prepare).await?;
        Ok(found.map(|item| vec![item]))
    }

    async fn incoming_calls(
        &self,
        params: CallHierarchyIncomingCallsParams,
    ) -> Result<Option<Vec<CallHierarchyIncomingCall>>> {
        let (uri, item, world) = (params.item.uri.clone(), params.item, self.world.clone());
        let work = move |v: &View| Some(call_hierarchy::incoming(v, &item, &|file| world.programs_with(file)));
        self.about(&uri, work).await
    }

    async fn outgoing_calls(
        &self,
        params: CallHierarchyOutgoingCallsParams,
    ) -> Result<Option<Vec<CallHierarchyOutgoingCall>>> {
        let (uri, item, world) = (params.item.uri.clone(), params.item, self.world.clone());
        let work = move |v: &View| Some(call_hierarchy::outgoing(v, &item, &|file| world.programs_with(file)));
        self.about(&uri, work).await
    }

    async fn code_lens(&self, params: CodeLensParams) -> Result<Option<Vec<CodeLens>>> {
        self.about(&params.text_document.uri, |v| Some(code_lens::lenses(v))).await
    }

    async fn code_action(&self, params: CodeActionParams) -> Result<Option<CodeActionResponse>> {
        let work = move |v: &View| {
            let bytes = |range| v.text().bytes(range);
            let shown: Vec<_> = params.context.diagnostics.iter().map(|d| bytes(d.range)).collect();
            Some(code_action::actions(v, bytes(params.range), &shown, params.context.only.as_deref()))
        };
        let found = self.about(&params.text_document.uri, work).await?;
        Ok(found.map(|all| all.into_iter().map(CodeActionOrCommand::CodeAction).collect()))
    }

    async fn execute_command(&self, params: ExecuteCommandParams) -> Result<Option<Value>> {
        match params.command.as_str() {
            "sluice.toggleHints" => {
                let now = self.world.settings();
                let next = {
                    let mut kept = self.can.hints_off.lock().unwrap_or_else(PoisonError::into_inner);
                    if now.any_hints() {
                        *kept = Some((*now).clone());
                        Settings { rates: false, composites: false, ii: false, enqueues: false, ..(*now).clone() }
                    } else {
                        let all =
                            Settings { rates: true, composites: true, ii: true, enqueues: true, ..(*now).clone() };
                        kept.take().unwrap_or(all)
                    }
                };
                let shown = next.any_hints();
                self.world.set(next);
                if self.can.refresh_hints.load(Ordering::Relaxed) {
                    let client = self.client.clone();
                    tokio::spawn(async move { client.inlay_hint_refresh().await });
                }
                Ok(Some(json!(shown)))
            }
            "sluice.schedule" => {
                let given = params.arguments.first().and_then(Value::as_str).and_then(|u| Url::parse(u).ok());
                let uri = given.ok_or_else(|| Error::invalid_params("sluice.schedule wants the URI of a document"))?;
                let method = params.arguments.get(1).and_then(Value::as_str).unwrap_or("ilp");
                let method = Method::ALL.into_iter().find(|m| m.name() == method);
                let method = method.ok_or_else(|| Error::invalid_params("there is no such method"))?;
                let (world, document) = (self.world.clone(), name(&uri));
                let work = move || {
                    let done = world.schedule(&document, method);
                    let told = |s: Arc<crate::world::scheduled::Scheduled>| {
                        s.result.as_ref().map_err(Clone::clone)?;
                        Ok(world.view(&document).and_then(|v| facts::interval(&v)).unwrap_or_default())
                    };
                    Some(done.and_then(told))
                };
                match self.guarded(work).await? {
                    Some(Ok(text)) => {
                        self.client.show_message(MessageType::INFO, &text).await;
                        Ok(Some(json!(text)))
                    }
                    Some(Err(why)) => Err(failed(why)),
                    None => Ok(None),
                }
            }
            other => Err(Error::invalid_params(format!("there is no command `{other}`"))),
        }
    }
}
