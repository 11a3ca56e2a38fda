//! # news
//!
//! Purpose: tells the client what threads find out. A file may belong to several programs, each of which is analysed by itself: what is shown of it is what any of them says of its present text, so that
//! it does not matter which was analysed last.

use crate::convert::{Text, name};
use crate::feature::diagnostics;
use crate::server::Can;
use crate::world::view::View;
use crate::world::{Listener, World};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use tokio::runtime::Handle;
use tower_lsp::Client;
use tower_lsp::lsp_types::*;

/// What programs say of their files.
pub type Shown = BTreeMap<String, BTreeMap<Url, Said>>;

/// What a program says of a file.
pub struct Said {
    text: Text,
    list: Vec<Diagnostic>,
}

/// Tells the client.
pub struct News {
    /// The client.
    pub client: Client,
    /// Where what is said is said from.
    pub runtime: Handle,
    /// What the client can do.
    pub can: Arc<Can>,
    /// The world, once there is one.
    pub world: Arc<OnceLock<Weak<World>>>,
    /// By program and file.
    pub shown: Arc<Mutex<Shown>>,
    /// Held by who speaks of diagnostics.
    pub order: Arc<tokio::sync::Mutex<()>>,
}

impl News {
    fn refresh(&self) {
        let (client, can) = (self.client.clone(), self.can.clone());
        self.runtime.spawn(async move {
            if can.refresh_hints.load(Ordering::Relaxed) {
                let _ = client.inlay_hint_refresh().await;
            }
            if can.refresh_lenses.load(Ordering::Relaxed) {
                let _ = client.code_lens_refresh().await;
            }
        });
    }

    /// Shows what is known of files by then.
    fn show(&self, files: BTreeSet<Url>) {
        let (client, order, shown, world) =
            (self.client.clone(), self.order.clone(), self.shown.clone(), self.world.clone());
        self.runtime.spawn(async move {
            let _in_order = order.lock().await;
            for uri in files {
                let document = world.get().and_then(Weak::upgrade).and_then(|w| w.document(&name(&uri)));
                let found = {
                    let shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
                    together(&shown, &uri, document.as_ref().map(|(text, _)| text))
                };
                if let Some(list) = found {
                    let version = document.map(|(_, version)| version).filter(|_| list.is_some());
                    client.publish_diagnostics(uri, list.unwrap_or_default(), version).await;
                }
            }
        });
    }
}

/// What all programs that have a file say of its present text (of a file that is not open, of the text that the first of them has). `Some(None)`: none has it; `None`: none has seen that text yet.
fn together(shown: &Shown, uri: &Url, now: Option<&Text>) -> Option<Option<Vec<Diagnostic>>> {
    let all: Vec<&Said> = shown.values().filter_map(|files| files.get(uri)).collect();
    let Some(first) = all.first() else { return Some(None) };
    let now = now.unwrap_or(&first.text);
    let of_now: Vec<&Said> = all.into_iter().filter(|s| s.text.is_same(now)).collect();
    let mut list: Vec<Diagnostic> = Vec::new();
    for said in &of_now {
        let before = list.len();
        for d in &said.list {
            match list[..before].iter_mut().find(|o| is_same(o, d)) {
                // an error in a program, a warning in one that never instantiates the stream
                Some(known) if d.severity < known.severity => *known = d.clone(),
                Some(_) => {}
                None => list.push(d.clone()),
            }
        }
    }
    if of_now.len() > 1 {
        list.sort_by_key(|d| (d.range.start, d.range.end));
        list.truncate(diagnostics::MOST);
    }
    (!of_now.is_empty()).then_some(Some(list))
}

/// Is it the same fault? Words may name other instances.
fn is_same(a: &Diagnostic, b: &Diagnostic) -> bool {
    a.range == b.range && a.code == b.code
}

impl Listener for News {
    fn analysed(&self, program: &str, view: &View) {
        let world = self.world.get().and_then(Weak::upgrade);
        let mut now: BTreeMap<Url, Said> = BTreeMap::new();
        let named = world.as_ref().and_then(|w| w.entry(program));
        for (file, list) in diagnostics::diagnostics(view, named.as_ref()) {
            let document = world.as_ref().and_then(|w| w.document(&view.syntax.file(file).name));
            if document.is_some_and(|(text, _)| !text.is_same(view.syntax.text(file))) {
                // it has just been changed: there will be newer ones
                return;
            }
            if let Some(uri) = diagnostics::uri_of(view, file) {
                now.insert(uri, Said { text: view.syntax.text(file).clone(), list });
            }
        }
        if let Some(named) = named
            && let Some(uri) = diagnostics::uri_named(view, program)
        {
            let list = diagnostics::of_entry(view, &named);
            if !list.is_empty() {
                now.insert(uri, Said { text: named.0, list });
            }
        }
        let mut files: BTreeSet<Url> = now.keys().cloned().collect();
        {
            let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
            // what is no part of it any more has no diagnostics of it
            files.extend(shown.insert(program.to_string(), now).unwrap_or_default().into_keys());
        }
        self.show(files);
        self.refresh();
    }

    fn gone(&self, program: &str) {
        let files = self.shown.lock().unwrap_or_else(PoisonError::into_inner).remove(program);
        self.show(files.unwrap_or_default().into_keys().collect());
    }

    fn scheduled(&self, _program: &str) {
        self.refresh();
    }

    fn manifest(&self, name: &str, text: Text, list: Vec<Diagnostic>) {
        let Some(uri) = crate::convert::uri(name) else { return };
        {
            let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
            // it is no program; programs may say something of it, too
            let whole = format!("all of {name}");
            match list.is_empty() {
                true => shown.remove(&whole),
                false => shown.insert(whole, BTreeMap::from([(uri.clone(), Said { text, list })])),
            };
        }
        self.show(BTreeSet::from([uri]));
    }

    fn failed(&self, what: &str) {
        let (client, what) = (self.client.clone(), what.to_string());
        self.runtime.spawn(async move { client.log_message(MessageType::ERROR, what).await });
    }
}
