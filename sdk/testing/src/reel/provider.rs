//! The provider that stands before another one and writes a record, or answers from one. It decides
//! nothing about either.

use std::future::Future;
use std::sync::Arc;

use async_trait::async_trait;
use formwork_plugin_protocol::message::action::{ActionEvent, ActionRequest, PlanActionResponse};
use formwork_plugin_protocol::message::configure::{ConfigureRequest, ValidateRequest, Verdict};
use formwork_plugin_protocol::message::data::{ReadDataRequest, ReadDataResponse};
use formwork_plugin_protocol::message::ephemeral::{
    KeepRequest, OpenRequest, OpenResponse, RenewResponse,
};
use formwork_plugin_protocol::message::function::{CallRequest, CallResponse, Functions};
use formwork_plugin_protocol::message::list::{ListEvent, ListRequest, ValidateListRequest};
use formwork_plugin_protocol::message::resource::{
    ApplyRequest, ApplyResponse, ImportRequest, ImportResponse, MoveRequest, MoveResponse,
    PlanRequest, PlanResponse, ReadRequest, ReadResponse, UpgradeIdentityRequest,
    UpgradeIdentityResponse, UpgradeRequest, UpgradeResponse,
};
use formwork_plugin_protocol::message::schema::{IdentitySchemas, Metadata, ProviderSchema};
use formwork_plugin_protocol::{Failure, Provider};
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt as _, TryStreamExt as _};
use serde_json::json;
use tokio::sync::OnceCell;

use super::Reel;
use super::answer::Answer;
use super::form::{Kind, Offer, Page};

/// A provider with a record.
pub(super) struct Taped {
    inner: Arc<dyn Provider>,
    reel: Reel,
    /// Whether answers come from the record.
    replays: bool,
    offer: OnceCell<Offer>,
}

/// What is asked of what.
type Call<'c> = (&'static str, &'c str);

impl Taped {
    pub(super) fn new(inner: Arc<dyn Provider>, reel: Reel, replays: bool) -> Self {
        Self { inner, reel, replays, offer: OnceCell::new() }
    }

    async fn page(&self) -> Result<Page<'_>, Failure> {
        let offer = self.offer.get_or_try_init(|| async {
            let identities = match self.inner.identity_schemas().await {
                Err(Failure::Unimplemented(_)) => IdentitySchemas::default(),
                answer => answer?,
            };
            Ok::<_, Failure>(Offer { schema: self.inner.schema().await?, identities })
        });
        Ok(Page::new(offer.await?))
    }

    /// Has a call answered. `live` is only begun if there is no record to answer from.
    async fn exchange<A: Answer>(
        &self,
        call: Call<'_>,
        request: Page<'_>,
        live: impl Future<Output = Result<A, Failure>> + Send,
    ) -> Result<A, Failure> {
        let offer = request.offer;
        if self.replays {
            let answer = self.reel.answer(call, request).map_err(Failure::Misbehaved)?;
            if let Some(words) = answer["failure"].as_str() {
                return Err(Failure::Misbehaved(words.to_owned()));
            }
            return A::read(offer, call.1, &answer).map_err(|reason| {
                Failure::Misbehaved(format!(
                    "the recorded answer to {} of {}: {reason}",
                    call.0, call.1
                ))
            });
        }
        let answer = live.await;
        let mut page = Page::new(offer);
        match &answer {
            Ok(answer) => answer.write(&mut page, call.1),
            Err(failure) => page.put("failure", json!(failure.to_string())),
        }
        self.reel.keep(call, request, page);
        answer
    }
}

#[async_trait]
impl Provider for Taped {
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
        let page = self.page().await?.validate(Kind::Provider, &request);
        let call = ("validate_provider_config", "provider");
        self.exchange(call, page, self.inner.validate_provider_config(request)).await
    }

    async fn configure(&self, request: ConfigureRequest) -> Result<Verdict, Failure> {
        let page = self.page().await?.configure(&request);
        self.exchange(("configure", "provider"), page, self.inner.configure(request)).await
    }

    async fn validate_resource_config(&self, request: ValidateRequest) -> Result<Verdict, Failure> {
        let of = request.type_name.clone();
        let page = self.page().await?.validate(Kind::Resource(&of), &request);
        let call = ("validate_resource_config", of.as_str());
        self.exchange(call, page, self.inner.validate_resource_config(request)).await
    }

    async fn validate_data_config(&self, request: ValidateRequest) -> Result<Verdict, Failure> {
        let of = request.type_name.clone();
        let page = self.page().await?.validate(Kind::Data(&of), &request);
        let call = ("validate_data_config", of.as_str());
        self.exchange(call, page, self.inner.validate_data_config(request)).await
    }

    async fn upgrade_state(&self, request: UpgradeRequest) -> Result<UpgradeResponse, Failure> {
        let (of, page) = (request.type_name.clone(), self.page().await?.upgrade(&request));
        self.exchange(("upgrade_state", &of), page, self.inner.upgrade_state(request)).await
    }

    async fn read(&self, request: ReadRequest) -> Result<ReadResponse, Failure> {
        let (of, page) = (request.type_name.clone(), self.page().await?.read(&request));
        self.exchange(("read", &of), page, self.inner.read(request)).await
    }

    async fn plan(&self, request: PlanRequest) -> Result<PlanResponse, Failure> {
        let (of, page) = (request.type_name.clone(), self.page().await?.plan(&request));
        self.exchange(("plan", &of), page, self.inner.plan(request)).await
    }

    async fn apply(&self, request: ApplyRequest) -> Result<ApplyResponse, Failure> {
        let (of, page) = (request.type_name.clone(), self.page().await?.apply(&request));
        self.exchange(("apply", &of), page, self.inner.apply(request)).await
    }

    async fn import(&self, request: ImportRequest) -> Result<ImportResponse, Failure> {
        let (of, page) = (request.type_name.clone(), self.page().await?.import(&request));
        self.exchange(("import", &of), page, self.inner.import(request)).await
    }

    async fn move_state(&self, request: MoveRequest) -> Result<MoveResponse, Failure> {
        let (of, page) = (request.target_type.clone(), self.page().await?.take_over(&request));
        self.exchange(("move_state", &of), page, self.inner.move_state(request)).await
    }

    async fn upgrade_identity(
        &self,
        request: UpgradeIdentityRequest,
    ) -> Result<UpgradeIdentityResponse, Failure> {
        let (of, page) = (request.type_name.clone(), self.page().await?.upgrade_identity(&request));
        self.exchange(("upgrade_identity", &of), page, self.inner.upgrade_identity(request)).await
    }

    async fn read_data(&self, request: ReadDataRequest) -> Result<ReadDataResponse, Failure> {
        let (of, page) = (request.type_name.clone(), self.page().await?.read_data(&request));
        self.exchange(("read_data", &of), page, self.inner.read_data(request)).await
    }

    async fn call_function(&self, request: CallRequest) -> Result<CallResponse, Failure> {
        let (of, page) = (request.name.clone(), self.page().await?.call_function(&request));
        self.exchange(("call_function", &of), page, self.inner.call_function(request)).await
    }

    async fn validate_ephemeral_config(
        &self,
        request: ValidateRequest,
    ) -> Result<Verdict, Failure> {
        let of = request.type_name.clone();
        let page = self.page().await?.validate(Kind::Ephemeral(&of), &request);
        let call = ("validate_ephemeral_config", of.as_str());
        self.exchange(call, page, self.inner.validate_ephemeral_config(request)).await
    }

    async fn validate_list_config(&self, request: ValidateListRequest) -> Result<Verdict, Failure> {
        let (of, page) = (request.type_name.clone(), self.page().await?.validate_list(&request));
        let call = ("validate_list_config", of.as_str());
        self.exchange(call, page, self.inner.validate_list_config(request)).await
    }

    async fn list(
        &self,
        request: ListRequest,
    ) -> Result<BoxStream<'static, Result<ListEvent, Failure>>, Failure> {
        let (of, page) = (request.type_name.clone(), self.page().await?.list(&request));
        let live = async { self.inner.list(request).await?.try_collect().await };
        let events: Vec<ListEvent> = self.exchange(("list", &of), page, live).await?;
        Ok(stream::iter(events.into_iter().map(Ok)).boxed())
    }

    async fn validate_action_config(&self, request: ValidateRequest) -> Result<Verdict, Failure> {
        let of = request.type_name.clone();
        let page = self.page().await?.validate(Kind::Action(&of), &request);
        let call = ("validate_action_config", of.as_str());
        self.exchange(call, page, self.inner.validate_action_config(request)).await
    }

    async fn plan_action(&self, request: ActionRequest) -> Result<PlanActionResponse, Failure> {
        let (of, page) = (request.type_name.clone(), self.page().await?.action(&request));
        self.exchange(("plan_action", &of), page, self.inner.plan_action(request)).await
    }

    async fn invoke_action(
        &self,
        request: ActionRequest,
    ) -> Result<BoxStream<'static, Result<ActionEvent, Failure>>, Failure> {
        let (of, page) = (request.type_name.clone(), self.page().await?.action(&request));
        let live = async { self.inner.invoke_action(request).await?.try_collect().await };
        let events: Vec<ActionEvent> = self.exchange(("invoke_action", &of), page, live).await?;
        Ok(stream::iter(events.into_iter().map(Ok)).boxed())
    }

    async fn open_ephemeral(&self, request: OpenRequest) -> Result<OpenResponse, Failure> {
        let (of, page) = (request.type_name.clone(), self.page().await?.open(&request));
        self.exchange(("open_ephemeral", &of), page, self.inner.open_ephemeral(request)).await
    }

    async fn renew_ephemeral(&self, request: KeepRequest) -> Result<RenewResponse, Failure> {
        let (of, page) = (request.type_name.clone(), self.page().await?.keep(&request));
        self.exchange(("renew_ephemeral", &of), page, self.inner.renew_ephemeral(request)).await
    }

    async fn close_ephemeral(&self, request: KeepRequest) -> Result<Verdict, Failure> {
        let (of, page) = (request.type_name.clone(), self.page().await?.keep(&request));
        self.exchange(("close_ephemeral", &of), page, self.inner.close_ephemeral(request)).await
    }
}
