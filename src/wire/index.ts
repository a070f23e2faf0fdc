// The public entry `spanline/wire`: the codecs with their types and errors. Imports no dependency and no `node:`
// module, which a test enforces, so the codecs run in a browser. Every export of this file is public API.

export { runCodec, streamCodec, type Codec, type Emit } from "../domain/codec.ts";
export { DIAGNOSTIC_CODES, type Diagnostic, type DiagnosticCode } from "../domain/diagnostic.ts";
export {
  ERROR_CODES,
  FrameChecksumError,
  FrameError,
  SpanlineError,
  TruncatedStreamError,
  type ErrorCode,
  type Failure,
} from "../domain/errors.ts";
export type { JsonObject, JsonValue } from "../data/json.ts";
export type {
  ActivityKind,
  ActivityEvent,
  DiagnosticRaised,
  HookFired,
  MessageEnd,
  MessageReplaced,
  MessageStart,
  Outcome,
  ProviderEvent,
  ReasoningDelta,
  ReasoningEnd,
  Role,
  TextDelta,
  TextEnd,
  ToolDelta,
  ToolEnd,
  ToolResultEvent,
  ToolStart,
  TurnEnd,
  UnknownEvent,
  UsageReported,
} from "../domain/provider/provider-event.ts";
export type { StreamMessage } from "../domain/provider/stream-message.ts";
export {
  createToolError,
  createToolSuccess,
  type Runner,
  type ToolCall,
  type ToolInputError,
  type ToolResult,
  type ToolResultPart,
} from "../domain/tools/tool-call.ts";
export { addToTurn, createTurnBuilder, type TurnBuilder } from "../domain/provider/turn-builder.ts";
export {
  snapshotTurn,
  buildTurn,
  type ServerToolCall,
  type Turn,
  type TurnBlock,
  type TurnMessage,
} from "../domain/provider/turn.ts";
export type { Usage } from "../domain/usage.ts";

export {
  createHarnessStream,
  type HarnessStreamOptions,
  type HarnessStreamState,
} from "./agentcore/harness/harness-stream.ts";
export {
  createJsonStream,
  type JsonLayout,
  type JsonStreamOptions,
  type JsonStreamState,
} from "./agentcore/capture/json-stream.ts";
export {
  createRuntimeStream,
  type RuntimeStreamOptions,
  type RuntimeStreamState,
} from "./agentcore/runtime/runtime-stream.ts";

export { createConverseFold, type ConverseOptions } from "./converse/fold.ts";
export {
  createInlineFunction,
  type InlineFunction,
  type SchemaWithJson,
} from "./converse/converse-input.ts";
export { parse, readUnionEvent, type ParsedStream, type ToolUse } from "./converse/parse.ts";
export {
  createUserMessages,
  type ConverseContent,
  type ConverseMessage,
  type JsonDocument,
  type ReasoningContent,
  type ToolResultContent,
  type ToolUseContent,
  type UserMessage,
} from "./converse/converse-input.ts";
export { createResumeMessages } from "./converse/resume.ts";
export {
  foldSdkStream,
  toSdkMessages,
  type SdkContent,
  type SdkMessage,
} from "./converse/aws-sdk.ts";
export type { ConverseState } from "./converse/state.ts";

export {
  createEventStreamDecoder,
  type EventStreamItem,
  type EventStreamOptions,
  type EventStreamState,
  type Frame,
} from "./framing/eventstream.ts";
export {
  encodeEvent,
  encodeException,
  encodeFrame,
  type FrameToEncode,
} from "./framing/eventstream-format.ts";
export type { Headers, HeaderValue } from "./framing/eventstream-format.ts";
export { readStreamMessage } from "./framing/eventstream-message.ts";
export {
  createJsonArrayDecoder,
  type JsonArrayItem,
  type JsonArrayOptions,
  type JsonArrayState,
} from "./framing/json-array.ts";
export {
  encodeJsonLine,
  createJsonLinesDecoder,
  type JsonLinesItem,
  type JsonLinesOptions,
  type JsonLinesState,
} from "./framing/json-lines.ts";
export { createSseDecoder, type SseItem, type SseOptions, type SseState } from "./framing/sse.ts";

export {
  resolveDisplayName,
  type DisplayName,
  type DisplayNames,
} from "./strands/display-names.ts";
export { createStrandsFold, type StrandsInput } from "./strands/fold.ts";
export type { StrandsOptions, StrandsState } from "./strands/state.ts";

export {
  createAigoEncoder,
  encodeAigoOutput,
  type AigoMessage,
  type AigoOptions,
  type AigoOutput,
} from "./aigo/aigo-output.ts";
export type { Anomaly } from "./responses/anomaly.ts";
export {
  createResponseEncoder,
  encodeResponse,
  type FinishedResponse,
  type ResponseOptions,
} from "./responses/response-encoder.ts";
export type {
  FunctionCallItem,
  FunctionCallOutputItem,
  MessageItem,
  ReasoningItem,
  ResponseItem,
} from "./responses/items/response-item.ts";
export type { ResponseStatus } from "./responses/response-status.ts";
export type { ResponseUsage } from "./responses/response-usage.ts";
