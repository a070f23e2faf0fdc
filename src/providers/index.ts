// The public entry `spanline/providers`: agents on AgentCore, called from here. A line added here is API.

export type { ConnectionOptions } from "../aws/agentcore.ts";
export type { Credentials, CredentialSource } from "../aws/credentials.ts";
export type { CommandEvent } from "../domain/command-event.ts";
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
  UnexpectedAnswerError,
  UnknownExceptionError,
  ValidationFailedError,
  errorOf,
  type Phase,
  type ProviderErrorCode,
} from "../domain/provider-error.ts";
export type { ModelMessage } from "../domain/model-request.ts";
export type { HarnessOverrides, HarnessTool } from "../wire/agentcore/harness-request.ts";
export type { TraceContext } from "../wire/agentcore/session-headers.ts";
export {
  harnessProvider,
  type HarnessCallOptions,
  type HarnessOptions,
  type HarnessProvider,
  type HarnessSession,
} from "./agentcore-harness/harness-provider.ts";
export {
  runtimeProvider,
  type RuntimeCallOptions,
  type RuntimeOptions,
  type RuntimeProvider,
  type RuntimeSession,
} from "./agentcore-runtime/runtime-provider.ts";
export {
  sessionArtifacts,
  type Artifact,
  type Artifacts,
  type ArtifactsOptions,
} from "./agentcore/artifacts.ts";
export { commandOutput, type CommandOutput } from "./agentcore/command-output.ts";
export type { CallLimits } from "./agentcore/limits.ts";
export type {
  CallInput,
  CallOptions,
  CommandOptions,
  CommandRun,
  OfferedTool,
  OpenOptions,
  Provider,
  ProviderCall,
  ProviderSession,
  Seam,
  StopOptions,
} from "./provider.ts";
