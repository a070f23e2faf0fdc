import type { CreateRequest, ReasoningOptions, Sampling, TextFormat } from "./create-request.ts";
import {
  readChoice,
  type Fields,
  isAbsent,
  readJsonObject,
  readList,
  readObject,
  readOptionalChoice,
  readOptionalBoolean,
  readOptionalNumber,
  readOptionalString,
  readString,
  readTraceMode,
  readMetadata,
  readBudget,
} from "./body-fields.ts";
import { readInput } from "./read-input.ts";
import { readToolChoice, readTools } from "./read-tools.ts";
import { createRequestError, createFieldError } from "./request-error.ts";
import type { TraceMode } from "../../../domain/responses-settings.ts";

/** Validates the body of a request for a response. Throws `invalid_message` with the name of the field. */
export function readCreateRequest(body: unknown): CreateRequest {
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw createRequestError("The body has to be a JSON object", {
      param: null,
      code: "invalid_body",
    });
  const fields = readObject(body, "body");
  const metadata = readMetadata(fields["metadata"]);
  const text = isAbsent(fields["text"]) ? {} : readObject(fields["text"], "text");
  const include = readInclude(fields["include"]);
  const textFormat = readFormat(text["format"]);
  const verbosity = readOptionalChoice(text, "verbosity", ["low", "medium", "high"], "text");
  return {
    model: readOptionalString(fields, "model", "", MAX_NAME_LENGTH),
    input: readInput(fields["input"]),
    previousResponseId: readOptionalString(fields, "previous_response_id", "", MAX_ID_LENGTH),
    conversation: readConversationId(fields["conversation"]),
    sessionId: fields["session_id"] ?? null,
    instructions: readOptionalString(fields, "instructions", "", MAX_INSTRUCTIONS_LENGTH),
    tools: readTools(fields["tools"]),
    toolChoice: readToolChoice(fields["tool_choice"]),
    parallelToolCalls: readOptionalBoolean(fields, "parallel_tool_calls"),
    maxOutputTokens: readOptionalNumber(fields, "max_output_tokens", { ...COUNT_RANGE, min: 16 }),
    maxToolCalls: readOptionalNumber(fields, "max_tool_calls", COUNT_RANGE),
    budget: readBudget(fields["budget"]),
    sampling: readSampling(fields),
    reasoning: readReasoning(fields["reasoning"]),
    textFormat,
    verbosity,
    truncation: readOptionalChoice(fields, "truncation", ["auto", "disabled"]) ?? "disabled",
    store: readOptionalBoolean(fields, "store") ?? true,
    background: readOptionalBoolean(fields, "background") ?? false,
    stream: readOptionalBoolean(fields, "stream") ?? false,
    serviceTier: readOptionalChoice(fields, "service_tier", [
      "auto",
      "default",
      "flex",
      "priority",
    ]),
    metadata,
    safetyIdentifier: readOptionalString(fields, "safety_identifier", "", 64),
    promptCacheKey: readOptionalString(fields, "prompt_cache_key", "", 64),
    trace: readTrace(fields["trace"], metadata),
    ignored: listIgnoredFields(fields, {
      include,
      isPlain: textFormat.type === "text" && verbosity === null,
    }),
  };
}

/** Validates a WebSocket frame which requests a response. Fields for HTTP only are refused. */
export function readCreateFrame(frame: unknown): CreateRequest {
  const { type, ...body } = readObject(frame, "frame");
  if (type !== "response.create")
    throw createRequestError('The type of a frame has to be "response.create"', {
      param: "type",
      code: "unknown_frame",
    });
  for (const name of ["stream", "stream_options", "background"]) {
    if (body[name] !== undefined)
      throw createFieldError(
        name,
        "is not supported over a WebSocket; omit it",
        "unsupported_field",
      );
  }
  // Input without generation is not in the specification, and agents do not support it.
  if (body["generate"] === false)
    throw createFieldError(
      "generate",
      "cannot be false: agents do not accept input without running",
      "unsupported_field",
    );
  return { ...readCreateRequest(body), stream: true };
}

/** Validates a compaction request: like a request for a response, but `model` is required. */
export function readCompactRequest(body: unknown): CreateRequest & { readonly model: string } {
  const request = readCreateRequest(body);
  const { model } = request;
  if (model === null)
    throw createFieldError("model", "is missing; name the agent", "missing_field");
  return { ...request, model };
}

function readConversationId(conversation: unknown): string | null {
  if (isAbsent(conversation)) return null;
  if (typeof conversation === "string")
    return readString(conversation, "conversation", MAX_ID_LENGTH);
  const { id } = readObject(conversation, "conversation");
  return readString(id, "conversation.id", MAX_ID_LENGTH);
}

function readInclude(include: unknown): readonly string[] {
  if (isAbsent(include)) return [];
  return readList(include, "include", 32).map((name, index) =>
    readString(name, `include[${index}]`, MAX_NAME_LENGTH),
  );
}

function readTrace(trace: unknown, metadata: CreateRequest["metadata"]): TraceMode | null {
  if (!isAbsent(trace)) return readTraceMode(trace, "trace");
  if (!Object.hasOwn(metadata, TRACE_NAME)) return null;
  return readTraceMode(metadata[TRACE_NAME], `metadata.${TRACE_NAME}`);
}

function readSampling(fields: Fields): Sampling {
  return {
    temperature: readOptionalNumber(fields, "temperature", { min: 0, max: 2 }),
    topP: readOptionalNumber(fields, "top_p", { min: 0, max: 1 }),
    presencePenalty: readOptionalNumber(fields, "presence_penalty", { min: -2, max: 2 }),
    frequencyPenalty: readOptionalNumber(fields, "frequency_penalty", { min: -2, max: 2 }),
    topLogprobs: readOptionalNumber(fields, "top_logprobs", { min: 0, max: 20, isInteger: true }),
  };
}

function readReasoning(reasoning: unknown): ReasoningOptions | null {
  if (isAbsent(reasoning)) return null;
  const fields = readObject(reasoning, "reasoning");
  return {
    effort: readOptionalChoice(fields, "effort", EFFORTS, "reasoning"),
    summary: readOptionalChoice(fields, "summary", ["concise", "detailed", "auto"], "reasoning"),
  };
}

function readFormat(format: unknown): TextFormat {
  if (isAbsent(format)) return { type: "text" };
  const fields = readObject(format, "text.format");
  const type = readChoice(fields["type"], "text.format.type", FORMATS);
  if (type !== "json_schema") return { type };
  return {
    type,
    name: readString(fields["name"], "text.format.name", 64),
    description: readOptionalString(fields, "description", "text.format", MAX_INSTRUCTIONS_LENGTH),
    schema: readJsonObject(fields["schema"] ?? {}, "text.format.schema"),
    strict: readOptionalBoolean(fields, "strict", "text.format") ?? false,
  };
}

interface OutputRequest {
  readonly include: readonly string[];
  /** True if the requested text options equal the defaults. */
  readonly isPlain: boolean;
}

function listIgnoredFields(fields: Fields, { include, isPlain }: OutputRequest): readonly string[] {
  const names = Object.keys(fields).filter((name) => {
    const value = fields[name];
    if (!KNOWN_FIELDS.has(name)) return true;
    if (isAbsent(value)) return false;
    if (name === "text") return !isPlain;
    if (name === "parallel_tool_calls") return value === false;
    if (name === "include") return include.some((name) => name !== INCLUDED_BY_DEFAULT);
    return UNUSED_FIELDS.has(name);
  });
  return names.slice(0, MAX_REPORTED_FIELDS).map((name) => name.slice(0, 64));
}

/** Encrypted reasoning is always included in the response. */
const INCLUDED_BY_DEFAULT = "reasoning.encrypted_content";

/** Parameters without effect on agents. */
const UNUSED_FIELDS: ReadonlySet<string> = new Set([
  "temperature",
  "top_p",
  "presence_penalty",
  "frequency_penalty",
  "top_logprobs",
  "reasoning",
]);

const KNOWN_FIELDS: ReadonlySet<string> = new Set(
  `model input previous_response_id conversation session_id instructions include tools tool_choice
  parallel_tool_calls max_output_tokens max_tool_calls temperature top_p presence_penalty
  frequency_penalty top_logprobs reasoning text truncation store background stream stream_options
  service_tier metadata safety_identifier prompt_cache_key trace budget`.split(/\s+/),
);
const FORMATS = ["text", "json_object", "json_schema"] as const;
/** `minimal` is in OpenAI's list but not in the specification. */
const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh"] as const;
const TRACE_NAME = "spanline_trace";
const COUNT_RANGE = { min: 1, max: 1_000_000_000, isInteger: true } as const;
const MAX_ID_LENGTH = 512;
const MAX_NAME_LENGTH = 256;
const MAX_INSTRUCTIONS_LENGTH = 1_048_576;
const MAX_REPORTED_FIELDS = 32;
