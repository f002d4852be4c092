//! Stands between the engine and the provider: counts calls, and lets one go wrong.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use formwork_core::addr::ProviderAddr;
use formwork_core::provider::Launch;
use formwork_plugin_protocol::message::configure::{ConfigureRequest, ValidateRequest, Verdict};
use formwork_plugin_protocol::message::data::{ReadDataRequest, ReadDataResponse};
use formwork_plugin_protocol::message::ephemeral::{
    KeepRequest, OpenRequest, OpenResponse, RenewResponse,
};
use formwork_plugin_protocol::message::function::{CallRequest, CallResponse, Functions};
use formwork_plugin_protocol::message::resource::{
    ApplyRequest, ApplyResponse, ImportRequest, ImportResponse, MoveRequest, MoveResponse,
    PlanRequest, PlanResponse, ReadRequest, ReadResponse, UpgradeIdentityRequest,
    UpgradeIdentityResponse, UpgradeRequest, UpgradeResponse,
};
use formwork_plugin_protocol::message::schema::{IdentitySchemas, Metadata, ProviderSchema};
use formwork_plugin_protocol::{Failure, Provider};
use formwork_sdk::ProviderDef;

use crate::Reel;

/// What can happen to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The provider dies before it has done anything.
    DiesBefore,
    /// The provider does its work and dies before it can say so.
    DiesAfter,
}

impl Fault {
    /// All that can happen.
    pub const ALL: [Self; 2] = [Self::DiesBefore, Self::DiesAfter];
}

/// Starts providers, all of which have the same trouble.
pub(crate) struct Front {
    provider: Arc<dyn Fn() -> ProviderDef + Send + Sync>,
    trouble: Arc<Mutex<Trouble>>,
    pub(crate) record: Record,
}

/// What is done about the calls of a provider.
#[derive(Default)]
pub(crate) enum Record {
    /// They are made.
    #[default]
    None,
    /// They are made and kept.
    Kept(Reel),
    /// They are answered as they were.
    Answered(Reel),
}

/// The calls that were made, and what happens to one of them.
#[derive(Default)]
struct Trouble {
    calls: Vec<String>,
    fault: Option<(usize, Fault)>,
}

impl Front {
    pub(crate) fn new(provider: Arc<dyn Fn() -> ProviderDef + Send + Sync>) -> Self {
        Self { provider, trouble: Arc::default(), record: Record::None }
    }

    pub(crate) fn arm(&self, at: usize, fault: Fault) {
        *locked(&self.trouble) = Trouble { calls: Vec::new(), fault: Some((at, fault)) };
    }

    pub(crate) fn disarm(&self) -> Vec<String> {
        std::mem::take(&mut *locked(&self.trouble)).calls
    }
}

#[async_trait(?Send)]
impl Launch for Front {
    async fn launch(&self, _: &ProviderAddr) -> Result<Arc<dyn Provider>, Failure> {
        let inner = (self.provider)().into_provider();
        let provider = Arc::new(Faulty { inner, trouble: self.trouble.clone() });
        Ok(match &self.record {
            Record::None => provider,
            Record::Kept(reel) => reel.record(provider),
            Record::Answered(reel) => reel.replay(provider),
        })
    }
}

/// A provider that has trouble with one call.
struct Faulty<P> {
    inner: P,
    trouble: Arc<Mutex<Trouble>>,
}

impl<P: Provider> Faulty<P> {
    /// Notes a call, and fails it where that is wanted.
    fn before(&self, call: &str, about: &str) -> Result<bool, Failure> {
        let mut trouble = locked(&self.trouble);
        let at = trouble.calls.len();
        trouble.calls.push(format!("{call} {about}"));
        match trouble.fault {
            Some((wanted, Fault::DiesBefore)) if wanted == at => Err(lost()),
            Some((wanted, Fault::DiesAfter)) if wanted == at => Ok(true),
            _ => Ok(false),
        }
    }
}

fn lost() -> Failure {
    Failure::Lost {
        reason: "the connection was lost".to_owned(),
        exit: None,
        output: "the test wanted it".to_owned(),
    }
}

fn locked(trouble: &Mutex<Trouble>) -> MutexGuard<'_, Trouble> {
    trouble.lock().unwrap_or_else(PoisonError::into_inner)
}

#[async_trait]
impl<P: Provider> Provider for Faulty<P> {
    async fn schema(&self) -> Result<ProviderSchema, Failure> {
        self.inner.schema().await
    }

    async fn metadata(&self) -> Result<Metadata, Failure> {
        self.inner.metadata().await
    }

    async fn identity_schemas(&self) -> Result<IdentitySchemas, Failure> {
        self.inner.identity_schemas().await
    }

    async fn functions(&self) -> Result<Functions, Failure> {
        self.inner.functions().await
    }

    async fn stop(&self) -> Result<String, Failure> {
        self.inner.stop().await
    }

    async fn validate_provider_config(&self, request: ValidateRequest) -> Result<Verdict, Failure> {
        let dies = self.before("validate_provider_config", "provider")?;
        let answer = self.inner.validate_provider_config(request).await;
        if dies { Err(lost()) } else { answer }
    }

    async fn configure(&self, request: ConfigureRequest) -> Result<Verdict, Failure> {
        let dies = self.before("configure", "provider")?;
        let answer = self.inner.configure(request).await;
        if dies { Err(lost()) } else { answer }
    }

    async fn validate_resource_config(&self, request: ValidateRequest) -> Result<Verdict, Failure> {
        let dies = self.before("validate_resource_config", &request.type_name)?;
        let answer = self.inner.validate_resource_config(request).await;
        if dies { Err(lost()) } else { answer }
    }

    async fn validate_data_config(&self, request: ValidateRequest) -> Result<Verdict, Failure> {
        let dies = self.before("validate_data_config", &request.type_name)?;
        let answer = self.inner.validate_data_config(request).await;
        if dies { Err(lost()) } else { answer }
    }

    async fn upgrade_state(&self, request: UpgradeRequest) -> Result<UpgradeResponse, Failure> {
        let dies = self.before("upgrade_state", &request.type_name)?;
        let answer = self.inner.upgrade_state(request).await;
        if dies { Err(lost()) } else { answer }
    }

    async fn read(&self, request: ReadRequest) -> Result<ReadResponse, Failure> {
        let dies = self.before("read", &request.type_name)?;
        let answer = self.inner.read(request).await;
        if dies { Err(lost()) } else { answer }
    }

    async fn plan(&self, request: PlanRequest) -> Result<PlanResponse, Failure> {
        let dies = self.before("plan", &request.type_name)?;
        let answer = self.inner.plan(request).await;
        if dies { Err(lost()) } else { answer }
    }

    async fn apply(&self, request: ApplyRequest) -> Result<ApplyResponse, Failure> {
        let dies = self.before("apply", &request.type_name)?;
        let answer = self.inner.apply(request).await;
        if dies { Err(lost()) } else { answer }
    }

    async fn import(&self, request: ImportRequest) -> Result<ImportResponse, Failure> {
        let dies = self.before("import", &request.type_name)?;
        let answer = self.inner.import(request).await;
        if dies { Err(lost()) } else { answer }
    }

    async fn move_state(&self, request: MoveRequest) -> Result<MoveResponse, Failure> {
        let dies = self.before("move_state", &request.target_type)?;
        let answer = self.inner.move_state(request).await;
        if dies { Err(lost()) } else { answer }
    }

    async fn upgrade_identity(
        &self,
        request: UpgradeIdentityRequest,
    ) -> Result<UpgradeIdentityResponse, Failure> {
        let dies = self.before("upgrade_identity", &request.type_name)?;
        let answer = self.inner.upgrade_identity(request).await;
        if dies { Err(lost()) } else { answer }
    }

    async fn read_data(&self, request: ReadDataRequest) -> Result<ReadDataResponse, Failure> {
        let dies = self.before("read_data", &request.type_name)?;
        let answer = self.inner.read_data(request).await;
        if dies { Err(lost()) } else { answer }
    }

    async fn call_function(&self, request: CallRequest) -> Result<CallResponse, Failure> {
        let dies = self.before("call_function", &request.name)?;
        let answer = self.inner.call_function(request).await;
        if dies { Err(lost()) } else { answer }
    }

    async fn validate_ephemeral_config(
        &self,
        request: ValidateRequest,
    ) -> Result<Verdict, Failure> {
        let dies = self.before("validate_ephemeral_config", &request.type_name)?;
        let answer = self.inner.validate_ephemeral_config(request).await;
        if dies { Err(lost()) } else { answer }
    }

    async fn open_ephemeral(&self, request: OpenRequest) -> Result<OpenResponse, Failure> {
        let dies = self.before("open_ephemeral", &request.type_name)?;
        let answer = self.inner.open_ephemeral(request).await;
        if dies { Err(lost()) } else { answer }
    }

    async fn renew_ephemeral(&self, request: KeepRequest) -> Result<RenewResponse, Failure> {
        let dies = self.before("renew_ephemeral", &request.type_name)?;
        let answer = self.inner.renew_ephemeral(request).await;
        if dies { Err(lost()) } else { answer }
    }

    async fn close_ephemeral(&self, request: KeepRequest) -> Result<Verdict, Failure> {
        let dies = self.before("close_ephemeral", &request.type_name)?;
        let answer = self.inner.close_ephemeral(request).await;
        if dies { Err(lost()) } else { answer }
    }
}
