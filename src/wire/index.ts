// The public entry `spanline/wire`: the codecs, with the words that they speak. No dependencies, no `node:` modules;
// a test holds it to that. A line added here is API.

export { runCodec, type Codec, type Emit } from "../domain/codec.ts";
export type { Diagnostic, DiagnosticCode } from "../domain/diagnostic.ts";
export {
  FrameChecksumError,
  FrameError,
  SpanlineError,
  TruncatedStreamError,
  type ErrorCode,
  type Failure,
} from "../domain/errors.ts";
export type { JsonObject, JsonValue } from "../domain/json.ts";
export type { Outcome, ProviderEvent, Role, TurnEnd } from "../domain/provider-event.ts";
export type { StreamMessage } from "../domain/stream-message.ts";
export {
  toolError,
  toolSuccess,
  type ToolCall,
  type ToolResult,
  type ToolResultPart,
} from "../domain/tool.ts";
export {
  addToTurn,
  initialTurn,
  snapshotTurn,
  turnOf,
  type Turn,
  type TurnBlock,
  type TurnMessage,
  type TurnState,
} from "../domain/turn.ts";
export type { Usage } from "../domain/usage.ts";

export { harnessStream } from "./agentcore/harness-stream.ts";
export { jsonStream, type JsonLayout } from "./agentcore/json-stream.ts";
export { runtimeStream } from "./agentcore/runtime-stream.ts";
export { isEventStream, unexpectedBody } from "./agentcore/unexpected-body.ts";

export { converseFold, type ConverseOptions } from "./converse/fold.ts";
export {
  inlineFunction,
  type InlineFunction,
  type JsonSchema,
  type SchemaWithJson,
} from "./converse/inline-function.ts";
export { parse, readUnionEvent, type ParsedStream, type ToolUse } from "./converse/parse.ts";
export { userMessages, type ConverseContent, type ConverseMessage } from "./converse/request.ts";
export { resumeMessages } from "./converse/resume.ts";

export {
  eventStreamDecoder,
  type EventStreamItem,
  type EventStreamOptions,
  type Frame,
} from "./framing/eventstream.ts";
export {
  encodeEvent,
  encodeException,
  encodeFrame,
  type FrameToEncode,
} from "./framing/eventstream-encode.ts";
export type { Headers, HeaderValue } from "./framing/eventstream-headers.ts";
export { readStreamMessage } from "./framing/eventstream-message.ts";
export { jsonArrayDecoder, type JsonArrayItem } from "./framing/json-array.ts";
export { encodeJsonLine, jsonLinesDecoder, type JsonLinesItem } from "./framing/json-lines.ts";
export { sseDecoder, type SseItem, type SseOptions } from "./framing/sse.ts";

export { displayName } from "./strands/display-names.ts";
export { strandsFold } from "./strands/fold.ts";

export { aigoEncoder, aigoOutput } from "./aigo/aigo-output.ts";
export {
  responseEncoder,
  responseOf,
  type FinishedResponse,
  type ResponseOptions,
} from "./responses/response-encoder.ts";
