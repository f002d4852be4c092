//! The table of DynamoDB with the locks of states and the sums of their content, as existing folders
//! have it.

use serde::Deserialize;
use serde_json::{Value, json};
use ureq::http::{Request, StatusCode, header};

use crate::aws::{Refusal, Service, refused};
use crate::cause::Cause;
use crate::lock::LockInfo;
use crate::web::HttpResponse;

/// The table.
#[derive(Clone)]
pub(super) struct Table {
    pub(super) name: String,
    pub(super) url: String,
    pub(super) service: Service,
}

#[derive(Default, Deserialize)]
struct Found {
    #[serde(rename = "Item", default)]
    item: serde_json::Map<String, Value>,
}

impl Table {
    /// Takes the lock of a state. Returns whether it was free.
    ///
    /// # Errors
    /// When the service refuses or does not answer.
    pub(super) async fn lock(&self, state: &str, info: &LockInfo) -> Result<bool, Cause> {
        let info = serde_json::to_string(info)?;
        let input = json!({
            "TableName": self.name,
            "Item": { "LockID": { "S": state }, "Info": { "S": info } },
            // The service checks this together with the write, so one of two runs gets the lock.
            "ConditionExpression": "attribute_not_exists(LockID)",
        });
        let answer = self.send("PutItem", &input).await?;
        if answer.status == StatusCode::OK {
            return Ok(true);
        }
        let held = "ConditionalCheckFailedException";
        if Refusal::read(&answer).is_some_and(|refusal| refusal.code == held) {
            return Ok(false);
        }
        Err(self.failed(&answer, "PutItem"))
    }

    /// The lock of a state; `None` if there is none.
    ///
    /// # Errors
    /// When the service refuses or does not answer, or the entry cannot be read.
    pub(super) async fn holder(&self, state: &str) -> Result<Option<LockInfo>, Cause> {
        let info = self.entry(state, "Info").await?;
        info.map(|info| serde_json::from_str(&info).map_err(Into::into)).transpose()
    }

    /// Releases the lock of a state.
    ///
    /// # Errors
    /// When the service refuses or does not answer.
    pub(super) async fn unlock(&self, state: &str) -> Result<(), Cause> {
        self.remove(state).await
    }

    /// The sum of the content of a state that was last written, in hexadecimal digits.
    ///
    /// # Errors
    /// When the service refuses or does not answer.
    pub(super) async fn sum(&self, state: &str) -> Result<Option<String>, Cause> {
        let sum = self.entry(&sum_key(state), "Digest").await?;
        // As in Terraform, a text that is no MD5 does not stop a read.
        Ok(sum.filter(|sum| sum.len() == 32 && sum.bytes().all(|byte| byte.is_ascii_hexdigit())))
    }

    /// Stores the sum of the content of a state.
    ///
    /// # Errors
    /// When the service refuses or does not answer.
    pub(super) async fn set_sum(&self, state: &str, sum: &str) -> Result<(), Cause> {
        let input = json!({
            "TableName": self.name,
            "Item": { "LockID": { "S": sum_key(state) }, "Digest": { "S": sum } },
        });
        self.call("PutItem", &input).await.map(drop)
    }

    /// Removes the sum of the content of a state.
    ///
    /// # Errors
    /// When the service refuses or does not answer.
    pub(super) async fn remove_sum(&self, state: &str) -> Result<(), Cause> {
        self.remove(&sum_key(state)).await
    }

    async fn entry(&self, key: &str, attribute: &str) -> Result<Option<String>, Cause> {
        let input = json!({
            "TableName": self.name,
            "Key": { "LockID": { "S": key } },
            "ProjectionExpression": format!("LockID, {attribute}"),
            // DynamoDB's usual reads may miss the latest write.
            "ConsistentRead": true,
        });
        let answer = self.call("GetItem", &input).await?;
        let found: Found = serde_json::from_slice(&answer.body)?;
        let text = found.item.get(attribute).and_then(|value| value.get("S")?.as_str());
        Ok(text.map(str::to_owned))
    }

    async fn remove(&self, key: &str) -> Result<(), Cause> {
        let input = json!({ "TableName": self.name, "Key": { "LockID": { "S": key } } });
        self.call("DeleteItem", &input).await.map(drop)
    }

    async fn call(&self, operation: &str, input: &Value) -> Result<HttpResponse, Cause> {
        let answer = self.send(operation, input).await?;
        match answer.status {
            StatusCode::OK => Ok(answer),
            _ => Err(self.failed(&answer, operation)),
        }
    }

    async fn send(&self, operation: &str, input: &Value) -> Result<HttpResponse, Cause> {
        let request = Request::post(&self.url)
            .header(header::CONTENT_TYPE, "application/x-amz-json-1.0")
            .header("x-amz-target", format!("DynamoDB_20120810.{operation}"))
            .body(input.to_string().into_bytes())?;
        self.service.send(&request).await
    }

    fn failed(&self, answer: &HttpResponse, operation: &str) -> Cause {
        let call = format!("DynamoDB {operation} on table {:?} at", self.name);
        refused(answer, &call, &self.url, self.service.region())
    }
}

/// The key of the entry with the sum.
fn sum_key(state: &str) -> String {
    format!("{state}-md5")
}
