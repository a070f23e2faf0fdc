import type { CreateRequest, ReasoningWish, Sampling, TextFormat } from "./create-request.ts";
import {
  choiceAt,
  type Fields,
  isAbsent,
  jsonObjectAt,
  listAt,
  objectAt,
  optionalChoice,
  optionalFlag,
  optionalNumber,
  optionalText,
  textAt,
} from "./fields.ts";
import { readInput } from "./read-input.ts";
import { readMetadata } from "./read-metadata.ts";
import { readToolChoice, readTools } from "./read-tools.ts";
import { refusal, wrongField } from "./refusal.ts";
import type { TraceMode } from "../../../domain/trace-mode.ts";
import { readTraceMode } from "./trace-mode.ts";

/** The body of a request for a response. Throws a refusal that names the field. */
export function readCreateRequest(body: unknown): CreateRequest {
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw refusal("The body has to be a JSON object", { param: null, code: "invalid_body" });
  const fields = objectAt(body, "body");
  const metadata = readMetadata(fields["metadata"]);
  const text = isAbsent(fields["text"]) ? {} : objectAt(fields["text"], "text");
  const include = readInclude(fields["include"]);
  const textFormat = readFormat(text["format"]);
  const verbosity = optionalChoice(text, "verbosity", ["low", "medium", "high"], "text");
  return {
    model: optionalText(fields, "model", "", LONGEST_NAME),
    input: readInput(fields["input"]),
    previousResponseId: optionalText(fields, "previous_response_id", "", LONGEST_ID),
    conversation: readConversation(fields["conversation"]),
    sessionId: fields["session_id"] ?? null,
    instructions: optionalText(fields, "instructions", "", LONGEST_INSTRUCTIONS),
    tools: readTools(fields["tools"]),
    toolChoice: readToolChoice(fields["tool_choice"]),
    parallelToolCalls: optionalFlag(fields, "parallel_tool_calls"),
    maxOutputTokens: optionalNumber(fields, "max_output_tokens", { ...COUNT, least: 16 }),
    maxToolCalls: optionalNumber(fields, "max_tool_calls", COUNT),
    sampling: readSampling(fields),
    reasoning: readReasoning(fields["reasoning"]),
    textFormat,
    verbosity,
    truncation: optionalChoice(fields, "truncation", ["auto", "disabled"]) ?? "disabled",
    store: optionalFlag(fields, "store") ?? true,
    background: optionalFlag(fields, "background") ?? false,
    stream: optionalFlag(fields, "stream") ?? false,
    serviceTier: optionalChoice(fields, "service_tier", ["auto", "default", "flex", "priority"]),
    metadata,
    safetyIdentifier: optionalText(fields, "safety_identifier", "", 64),
    promptCacheKey: optionalText(fields, "prompt_cache_key", "", 64),
    trace: readTrace(fields["trace"], metadata),
    ignored: ignoredIn(fields, {
      include,
      isPlain: textFormat.type === "text" && verbosity === null,
    }),
  };
}

/** A frame of a WebSocket that asks for a response. What belongs to HTTP alone must not be in it. */
export function readCreateFrame(frame: unknown): CreateRequest {
  const { type, ...body } = objectAt(frame, "frame");
  if (type !== "response.create")
    throw refusal('The type of a frame has to be "response.create"', {
      param: "type",
      code: "unknown_frame",
    });
  for (const name of ["stream", "stream_options", "background"]) {
    if (body[name] !== undefined)
      throw wrongField(name, "is not taken over a WebSocket; leave it out", "unsupported_field");
  }
  // To be told something and not to answer is not in the specification, and nothing that an agent can do.
  if (body["generate"] === false)
    throw wrongField("generate", "cannot be false: an agent is asked, or not", "unsupported_field");
  return { ...readCreateRequest(body), stream: true };
}

/** A request to pack a conversation: as for a response, but the model has to be named. */
export function readCompactRequest(body: unknown): CreateRequest & { readonly model: string } {
  const request = readCreateRequest(body);
  const { model } = request;
  if (model === null) throw wrongField("model", "is missing; name the agent", "missing_field");
  return { ...request, model };
}

function readConversation(conversation: unknown): string | null {
  if (isAbsent(conversation)) return null;
  if (typeof conversation === "string") return textAt(conversation, "conversation", LONGEST_ID);
  const { id } = objectAt(conversation, "conversation");
  return textAt(id, "conversation.id", LONGEST_ID);
}

function readInclude(include: unknown): readonly string[] {
  if (isAbsent(include)) return [];
  return listAt(include, "include", 32).map((name, index) =>
    textAt(name, `include[${index}]`, LONGEST_NAME),
  );
}

function readTrace(trace: unknown, metadata: CreateRequest["metadata"]): TraceMode | null {
  if (!isAbsent(trace)) return readTraceMode(trace, "trace");
  if (!Object.hasOwn(metadata, TRACE_NAME)) return null;
  return readTraceMode(metadata[TRACE_NAME], `metadata.${TRACE_NAME}`);
}

function readSampling(fields: Fields): Sampling {
  return {
    temperature: optionalNumber(fields, "temperature", { least: 0, most: 2 }),
    topP: optionalNumber(fields, "top_p", { least: 0, most: 1 }),
    presencePenalty: optionalNumber(fields, "presence_penalty", { least: -2, most: 2 }),
    frequencyPenalty: optionalNumber(fields, "frequency_penalty", { least: -2, most: 2 }),
    topLogprobs: optionalNumber(fields, "top_logprobs", { least: 0, most: 20, whole: true }),
  };
}

function readReasoning(reasoning: unknown): ReasoningWish | null {
  if (isAbsent(reasoning)) return null;
  const fields = objectAt(reasoning, "reasoning");
  return {
    effort: optionalChoice(fields, "effort", EFFORTS, "reasoning"),
    summary: optionalChoice(fields, "summary", ["concise", "detailed", "auto"], "reasoning"),
  };
}

function readFormat(format: unknown): TextFormat {
  if (isAbsent(format)) return { type: "text" };
  const fields = objectAt(format, "text.format");
  const type = choiceAt(fields["type"], "text.format.type", FORMATS);
  if (type !== "json_schema") return { type };
  return {
    type,
    name: textAt(fields["name"], "text.format.name", 64),
    description: optionalText(fields, "description", "text.format", LONGEST_INSTRUCTIONS),
    schema: jsonObjectAt(fields["schema"] ?? {}, "text.format.schema"),
    strict: optionalFlag(fields, "strict", "text.format") ?? false,
  };
}

interface Wishes {
  readonly include: readonly string[];
  /** What is wanted of the text is what there is anyway. */
  readonly isPlain: boolean;
}

function ignoredIn(fields: Fields, { include, isPlain }: Wishes): readonly string[] {
  const names = Object.keys(fields).filter((name) => {
    const value = fields[name];
    if (!KNOWN_FIELDS.has(name)) return true;
    if (isAbsent(value)) return false;
    if (name === "text") return !isPlain;
    if (name === "parallel_tool_calls") return value === false;
    if (name === "include") return include.some((one) => one !== GIVEN);
    return UNTOLD.has(name);
  });
  return names.slice(0, MOST_REPORTED).map((name) => name.slice(0, 64));
}

/** Where the agent's reasoning is encrypted, it is given to everybody. */
const GIVEN = "reasoning.encrypted_content";

/** What no agent here is tuned by. */
const UNTOLD: ReadonlySet<string> = new Set([
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
  service_tier metadata safety_identifier prompt_cache_key trace`.split(/\s+/),
);
const FORMATS = ["text", "json_object", "json_schema"] as const;
/** `minimal` is in OpenAI's list and not in the specification's. */
const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh"] as const;
const TRACE_NAME = "spanline_trace";
const COUNT = { least: 1, most: 1_000_000_000, whole: true } as const;
const LONGEST_ID = 512;
const LONGEST_NAME = 256;
const LONGEST_INSTRUCTIONS = 1_048_576;
const MOST_REPORTED = 32;
