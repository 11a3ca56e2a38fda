//! # lenient
//!
//! Purpose: what a client says of itself at the start, as far as it is understood. Clients know values that this server's library does not (a kind of folding of their own, a format of texts of tomorrow), and
//! would be refused for them altogether. Input: the parameters of `initialize`. Output: the same without what has no meaning here; a root that is a path as a URI.

use serde_json::{Map, Value, json};
use tower_lsp::lsp_types::{InitializeParams, Url};

/// Values lie no deeper than this in what the protocol says of clients.
const DEEPEST: usize = 10;
/// More fields than any part of it has.
const MOST_FIELDS: usize = 64;

/// The parameters of `initialize` that can be understood.
pub fn initialize(params: Option<Value>) -> Option<Value> {
    let mut params = params?;
    if let Some(root) = params.get_mut("rootUri")
        && let Some(path) = root.as_str().filter(|r| Url::parse(r).is_err())
    {
        *root = Url::from_file_path(path).map_or(Value::Null, |uri| json!(uri));
    }
    let understood = |params: &Value| serde_json::from_value::<InitializeParams>(params.clone()).is_ok();
    let Value::Object(given) = &params else { return Some(params) };
    if understood(&params) {
        return Some(params);
    }
    let mut kept = Map::new();
    kept.insert("capabilities".into(), json!({}));
    for (key, value) in given {
        let fits = |value: &Value| understood(&json!({ "capabilities": {}, key: value }));
        if let Some(value) = part(value, &fits, DEEPEST) {
            kept.insert(key.clone(), value);
        }
    }
    Some(Value::Object(kept))
}

/// The part of a value that fits: of a list the items that do, of an object the fields.
fn part(value: &Value, fits: &dyn Fn(&Value) -> bool, depth: usize) -> Option<Value> {
    if fits(value) {
        return Some(value.clone());
    }
    let depth = depth.checked_sub(1)?;
    let kept = match value {
        Value::Array(items) => {
            let one = |item: &Value| fits(&json!([item]));
            Value::Array(items.iter().filter_map(|i| part(i, &one, depth)).collect())
        }
        Value::Object(fields) => {
            let alone = |key: &str, v: &Value| fits(&json!({ key: v }));
            // a field that may not stand alone: with the others as they are
            let beside = |key: &str, v: &Value| {
                let mut all = fields.clone();
                all.insert(key.into(), v.clone());
                fields.len() <= MOST_FIELDS && fits(&Value::Object(all))
            };
            let kept = |(key, v): (&String, &Value)| {
                let found = part(v, &|v| alone(key, v), depth).or_else(|| part(v, &|v| beside(key, v), depth));
                Some((key.clone(), found?))
            };
            let found = Value::Object(fields.iter().filter_map(kept).collect());
            if fits(&found) || fields.len() > MOST_FIELDS {
                return fits(&found).then_some(found);
            }
            // some may not be left out: all but one
            let without = |key: &String| {
                let mut all = fields.clone();
                all.remove(key);
                Some(Value::Object(all)).filter(|all| fits(all))
            };
            return fields.keys().find_map(without);
        }
        _ => return None,
    };
    fits(&kept).then_some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_understood_is_left_out_alone() {
        let tokens = json!({ "requests": { "full": true }, "tokenTypes": ["type"], "tokenModifiers": [], "formats": ["relative"], "multilineTokenSupport": "some" });
        let given = json!({
            "processId": -1,
            "rootUri": "",
            "trace": "compact",
            "workspaceFolders": [{ "uri": "file:///a", "name": "a" }, { "uri": "", "name": "b" }],
            "initializationOptions": { "lenses": 7 },
            "capabilities": {
                "general": { "positionEncodings": ["utf-8", "utf-99"] },
                "workspace": {
                    "workspaceEdit": { "resourceOperations": ["create", "copy"] },
                    "inlayHint": { "refreshSupport": true },
                },
                "textDocument": {
                    "foldingRange": { "foldingRangeKind": { "valueSet": ["comment", "custom"] } },
                    "hover": { "contentFormat": ["html", "plaintext"] },
                    "codeAction": { "codeActionLiteralSupport": { "codeActionKind": { "valueSet": ["quickfix", 5] } } },
                    "semanticTokens": tokens,
                },
            },
        });
        let found = initialize(Some(given.clone())).unwrap();
        assert!(serde_json::from_value::<InitializeParams>(given).is_err());
        let params: InitializeParams = serde_json::from_value(found.clone()).unwrap();
        assert_eq!((params.process_id, params.root_uri, params.trace), (None, None, None));
        assert_eq!(params.workspace_folders.unwrap().len(), 1);
        assert_eq!(found["initializationOptions"], json!({ "lenses": 7 }));
        let c = &found["capabilities"];
        assert_eq!(c["general"]["positionEncodings"][0], "utf-8");
        assert_eq!(c["workspace"]["workspaceEdit"]["resourceOperations"], json!(["create"]));
        assert_eq!(c["workspace"]["inlayHint"]["refreshSupport"], true);
        let d = &c["textDocument"];
        assert_eq!(d["hover"]["contentFormat"], json!(["plaintext"]));
        assert_eq!(d["codeAction"]["codeActionLiteralSupport"]["codeActionKind"]["valueSet"], json!(["quickfix"]));
        assert_eq!(d["semanticTokens"]["formats"], json!(["relative"]));
        assert!(d["semanticTokens"].get("multilineTokenSupport").is_none(), "{d}");
        assert_eq!(d["semanticTokens"]["requests"], json!({ "full": true }));
    }

    #[test]
    fn a_root_may_be_a_path() {
        let of =
            |root: &str| initialize(Some(json!({ "capabilities": {}, "rootUri": root }))).unwrap()["rootUri"].clone();
        assert_eq!(of("/home/a b"), "file:///home/a%20b");
        assert_eq!(of("file:///home"), "file:///home");
        assert_eq!(of("home"), Value::Null);
    }

    #[test]
    fn what_is_nested_without_end_is_left_out() {
        let deep = (0..100).fold(json!(5), |v, _| json!({ "textDocument": v, "hover": 5 }));
        let found = initialize(Some(json!({ "capabilities": deep }))).unwrap();
        assert!(serde_json::from_value::<InitializeParams>(found).is_ok());
    }
}
