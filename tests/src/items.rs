//! The items of a small HTTP service, which exist for one run of the sound provider.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

/// Items by their ids. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Items(Arc<Mutex<BTreeMap<String, Vec<u8>>>>);

impl Items {
    /// Answers a request with a status and a content.
    #[must_use]
    pub fn answer(&self, method: &str, path: &str, body: Vec<u8>) -> (u16, Vec<u8>) {
        let mut items = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let id = path.strip_prefix("/items/").unwrap_or_default();
        match method {
            "POST" if path == "/items" => {
                let item: Value = serde_json::from_slice(&body).unwrap_or_default();
                let Some(id) = item["id"].as_str() else { return (400, Vec::new()) };
                items.insert(id.to_owned(), body.clone());
                (201, body)
            }
            "POST" => (201, Vec::new()),
            "GET" => items.get(id).map_or((404, Vec::new()), |item| (200, item.clone())),
            "PUT" if items.contains_key(id) => {
                items.insert(id.to_owned(), body.clone());
                (200, body)
            }
            "DELETE" => (if items.remove(id).is_some() { 204 } else { 404 }, Vec::new()),
            _ => (404, Vec::new()),
        }
    }

    /// Returns the number of items.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}
