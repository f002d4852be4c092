//! The DynamoDB table with the locks of states and the checksums of their content, in Terraform's
//! format.

use formwork_core::disk::parse_json_object;
use serde::Deserialize;
use serde_json::{Value, json};
use ureq::http::{Request, StatusCode, header};

use crate::aws::{AwsErrorResponse, AwsService, unexpected_response_cause};
use crate::cause::Cause;
use crate::lock::LockInfo;
use crate::web::HttpResponse;

/// The table.
#[derive(Clone)]
pub(super) struct DynamoDbTable {
    pub(super) name: String,
    pub(super) url: String,
    pub(super) service: AwsService,
}

#[derive(Default, Deserialize)]
struct FoundItem {
    #[serde(rename = "Item", default)]
    item: serde_json::Map<String, Value>,
}

impl DynamoDbTable {
    /// Acquires the lock of a state. Returns whether it was free.
    ///
    /// # Errors
    /// Returns an error if the service refuses the request or does not respond.
    pub(super) async fn lock(&self, state: &str, info: &LockInfo) -> Result<bool, Cause> {
        let info = serde_json::to_string(info)?;
        let input = json!({
            "TableName": self.name,
            "Item": { "LockID": { "S": state }, "Info": { "S": info } },
            // The service evaluates this together with the write, so only one of two runs gets the
            // lock.
            "ConditionExpression": "attribute_not_exists(LockID)",
        });
        let answer = self.send_request("PutItem", &input).await?;
        if answer.status == StatusCode::OK {
            return Ok(true);
        }
        let held_code = "ConditionalCheckFailedException";
        if AwsErrorResponse::parse(&answer).is_some_and(|refusal| refusal.code == held_code) {
            return Ok(false);
        }
        Err(self.unexpected_response_cause(&answer, "PutItem"))
    }

    /// Returns the lock of a state, or `None` if there is none.
    ///
    /// # Errors
    /// Returns an error if the service refuses the request or does not respond, or if the item
    /// cannot be read.
    pub(super) async fn lock_holder(&self, state: &str) -> Result<Option<LockInfo>, Cause> {
        let info = self.read_item(state, "Info").await?;
        info.map(|info| parse_json_object(info.as_bytes()).map_err(Into::into)).transpose()
    }

    /// Releases the lock of a state.
    ///
    /// # Errors
    /// Returns an error if the service refuses the request or does not respond.
    pub(super) async fn unlock(&self, state: &str) -> Result<(), Cause> {
        self.delete_item(state).await
    }

    /// Returns the checksum of a state's content that was last written, in hexadecimal digits.
    ///
    /// # Errors
    /// Returns an error if the service refuses the request or does not respond.
    pub(super) async fn state_checksum(&self, state: &str) -> Result<Option<String>, Cause> {
        let checksum = self.read_item(&checksum_key(state), "Digest").await?;
        // As in Terraform, a string that is not an MD5 does not stop a read.
        Ok(checksum.filter(|checksum| {
            checksum.len() == 32 && checksum.bytes().all(|byte| byte.is_ascii_hexdigit())
        }))
    }

    /// Stores the checksum of a state's content.
    ///
    /// # Errors
    /// Returns an error if the service refuses the request or does not respond.
    pub(super) async fn set_state_checksum(
        &self,
        state: &str,
        checksum: &str,
    ) -> Result<(), Cause> {
        let input = json!({
            "TableName": self.name,
            "Item": { "LockID": { "S": checksum_key(state) }, "Digest": { "S": checksum } },
        });
        self.call_service("PutItem", &input).await.map(drop)
    }

    /// Deletes the checksum of a state's content.
    ///
    /// # Errors
    /// Returns an error if the service refuses the request or does not respond.
    pub(super) async fn remove_state_checksum(&self, state: &str) -> Result<(), Cause> {
        self.delete_item(&checksum_key(state)).await
    }

    async fn read_item(&self, key: &str, attribute: &str) -> Result<Option<String>, Cause> {
        let input = json!({
            "TableName": self.name,
            "Key": { "LockID": { "S": key } },
            "ProjectionExpression": format!("LockID, {attribute}"),
            // DynamoDB's default reads may miss the latest write.
            "ConsistentRead": true,
        });
        let answer = self.call_service("GetItem", &input).await?;
        let found_item: FoundItem = serde_json::from_slice(&answer.body)?;
        let text = found_item.item.get(attribute).and_then(|value| value.get("S")?.as_str());
        Ok(text.map(str::to_owned))
    }

    async fn delete_item(&self, key: &str) -> Result<(), Cause> {
        let input = json!({ "TableName": self.name, "Key": { "LockID": { "S": key } } });
        self.call_service("DeleteItem", &input).await.map(drop)
    }

    async fn call_service(&self, operation: &str, input: &Value) -> Result<HttpResponse, Cause> {
        let answer = self.send_request(operation, input).await?;
        match answer.status {
            StatusCode::OK => Ok(answer),
            _ => Err(self.unexpected_response_cause(&answer, operation)),
        }
    }

    async fn send_request(&self, operation: &str, input: &Value) -> Result<HttpResponse, Cause> {
        let request = Request::post(&self.url)
            .header(header::CONTENT_TYPE, "application/x-amz-json-1.0")
            .header("x-amz-target", format!("DynamoDB_20120810.{operation}"))
            .body(input.to_string().into_bytes())?;
        self.service.send_signed(&request).await
    }

    fn unexpected_response_cause(&self, answer: &HttpResponse, operation: &str) -> Cause {
        let call = format!("DynamoDB {operation} on table {:?} at", self.name);
        unexpected_response_cause(answer, &call, &self.url, self.service.region())
    }
}

/// The key of the item with the checksum.
fn checksum_key(state: &str) -> String {
    format!("{state}-md5")
}
