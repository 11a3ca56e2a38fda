//! The tables of docs/json.md as a schema: every object has exactly the fields that its table lists, of the types that it says.

use serde_json::Value;
use std::collections::BTreeMap;

/// Tables by their names.
pub struct Schema(BTreeMap<String, Vec<(String, String)>>);

impl Schema {
    /// The tables below a heading of the second level that contains these words.
    pub fn of(page: &str, words: &str) -> Schema {
        let section = page.split("\n## ").find(|s| s.lines().next().is_some_and(|l| l.contains(words)));
        let section = section.unwrap_or_else(|| panic!("docs/json.md says nothing of {words}"));
        let mut tables = BTreeMap::new();
        for part in section.split("\n### ").skip(1) {
            let name = part.lines().next().unwrap_or("").trim_matches('`').to_string();
            let rows = part.lines().filter(|l| l.starts_with("| `")).flat_map(row).collect();
            tables.insert(name, rows);
        }
        assert!(tables.len() > 3 && tables.values().all(|t: &Vec<_>| !t.is_empty()), "no tables for {words}");
        Schema(tables)
    }

    /// Is a value what a type says?
    pub fn check(&self, value: &Value, ty: &str) -> Result<(), String> {
        let fits = match ty {
            "string" => value.is_string(),
            "number" => value.is_number(),
            "boolean" => value.is_boolean(),
            "value" => !value.is_null(),
            "array of values" => value.as_array().is_some_and(|a| a.iter().all(|v| !v.is_null())),
            _ => {
                if let Some(ty) = ty.strip_suffix(" or null") {
                    return if value.is_null() { Ok(()) } else { self.check(value, ty) };
                }
                if let Some(ty) = ty.strip_prefix("array of ") {
                    let items = value.as_array().ok_or_else(|| format!("{value} is no array"))?;
                    return items.iter().try_for_each(|v| self.check(v, ty));
                }
                let table = self.0.get(ty.trim_matches('`')).ok_or_else(|| format!("no table `{ty}`"))?;
                return self.object(value, table).map_err(|e| format!("{ty}: {e}"));
            }
        };
        if fits { Ok(()) } else { Err(format!("{value} is no {ty}")) }
    }

    fn object(&self, value: &Value, table: &[(String, String)]) -> Result<(), String> {
        let fields = value.as_object().ok_or_else(|| format!("{value} is no object"))?;
        for (name, ty) in table {
            let field = fields.get(name).ok_or_else(|| format!("no field {name}"))?;
            self.check(field, ty).map_err(|e| format!("{name}: {e}"))?;
        }
        match fields.keys().find(|k| !table.iter().any(|(name, _)| name == *k)) {
            Some(unknown) => Err(format!("{unknown} is not documented")),
            None => Ok(()),
        }
    }
}

/// `| a, b | string, number | ... |`: one type for each name, or one for all.
fn row(line: &str) -> Vec<(String, String)> {
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    let names: Vec<&str> = cells[1].split(", ").map(|n| n.trim_matches('`')).collect();
    let types: Vec<&str> = cells[2].split(", ").collect();
    let ty = |i: usize| types.get(i).unwrap_or(&types[0]).to_string();
    names.iter().enumerate().map(|(i, n)| (n.to_string(), ty(i))).collect()
}
