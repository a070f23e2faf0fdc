// The public entry `spanline/providers`: agents on AgentCore, and agents whose loop runs in this process. Every export
// is public API.

export type { ConnectionOptions } from "../aws/agentcore-client.ts";
export type { Credentials, CredentialSource } from "../aws/credentials.ts";
export type { CommandEvent } from "../domain/provider/command-event.ts";
export {
  AbortError,
  AccessDeniedError,
  AgentFailedError,
  ConflictError,
  ConnectFailedError,
  ConnectionLostError,
  DeadlineExceededError,
  FirstEventTimeoutError,
  IdleTimeoutError,
  NotFoundError,
  ProviderError,
  QuotaExceededError,
  ServiceFailedError,
  ThrottledError,
  UnauthorizedError,
  UnexpectedResponseError,
  UnknownExceptionError,
  ValidationFailedError,
  toError,
  type RequestPhase,
  type ProviderErrorCode,
} from "../domain/provider/provider-error.ts";
export { createImageBlock, type ImageBlock, type ImageType } from "../domain/model/image-block.ts";
export type {
  ModelBlock,
  ModelMessage,
  ModelRequest,
  ModelTool,
  ToolChoice,
} from "../domain/model/model-request.ts";
export { anthropic, type AnthropicOptions } from "../models/anthropic.ts";
export { modelFromName, type Environment } from "../models/model-from-name.ts";
export type { Model, ModelLimits, ModelSettings, ModelObserver } from "../models/model.ts";
export { openAiCompatible, type OpenAiCompatibleOptions } from "../models/openai-compatible.ts";
export type { HarnessOverrides, HarnessTool } from "../wire/agentcore/harness/harness-request.ts";
export type { TraceContext } from "../wire/agentcore/wire-request.ts";
export {
  harnessProvider,
  type HarnessInvocationOptions,
  type HarnessOptions,
  type HarnessProvider,
  type HarnessSession,
} from "./agentcore/harness-provider.ts";
export {
  runtimeProvider,
  type RuntimeInvocationOptions,
  type RuntimeOptions,
  type RuntimeProvider,
  type RuntimeSession,
} from "./agentcore/runtime-provider.ts";
export {
  openSessionArtifacts,
  type Artifact,
  type Artifacts,
  type ArtifactsOptions,
} from "./agentcore/artifacts.ts";
export { collectCommandOutput, type CommandOutput } from "./agentcore/command-output.ts";
export type { InvocationLimits } from "./agentcore/invocation-limits.ts";
export type {
  FailingToolsOptions,
  LocalGuards,
  LastStepsOptions,
  RepeatedCallsOptions,
} from "./local/turn-guards.ts";
export { localProvider, type LocalOptions } from "./local/local-provider.ts";
export type {
  AnsweredToolCall,
  InvocationInput,
  InvocationOptions,
  CommandOptions,
  CommandRun,
  OfferedTool,
  OpenOptions,
  Provider,
  ProviderInvocation,
  ProviderSession,
  InjectionPoint,
  StopOptions,
  TurnProgress,
} from "./provider.ts";
