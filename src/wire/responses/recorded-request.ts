import { isObject, type JsonObject, type JsonValue } from "../../data/json.ts";
import { readCarriedState } from "./request/session-carriers.ts";
import type { CreateRequest, RequestToolChoice } from "./request/create-request.ts";
import {
  decodeInputMessages,
  listInputMessages,
  type InputMessage,
} from "./request/input-messages.ts";
import { TRACE_MODES, type TraceMode } from "../../domain/responses-settings.ts";

/**
 * The data of a request needed to encode its response. Stored in the log with the prompt; no other source is needed.
 */
export interface RecordedRequest {
  readonly trace: TraceMode;
  readonly isBackground: boolean;
  /** Names of the caller's tools. Their tool calls are always shown as function calls for the caller to run. */
  readonly clientTools: readonly string[];
  /** State copied to the assistant messages. */
  readonly state: JsonObject;
  /** Request fields repeated in the response, in wire format. */
  readonly echo: JsonObject;
  /** The messages of the request. Empty if the prompt alone determines them. */
  readonly inputMessages: readonly InputMessage[];
  /** The session was opened with earlier messages of the request. */
  readonly hasHistory: boolean;
}

export interface RecordingContext {
  /** The model name in the response. The name of the agent if the request has none. */
  readonly model: string;
  readonly trace: TraceMode;
  /** Client tools of the continued turn, for a request with tool results. */
  readonly clientTools?: readonly string[];
  /** The session was opened with earlier messages of the request. Default: false. */
  readonly hasHistory?: boolean;
}

/**
 * Creates the record of a request. For the input, the record has only the boundaries of messages; the events have the
 * text.
 */
export function recordRequest(request: CreateRequest, facts: RecordingContext): RecordedRequest {
  const toolNames = request.tools.map(({ name }) => name);
  const { hasHistory = false } = facts;
  return {
    trace: facts.trace,
    isBackground: request.background,
    clientTools: [...new Set([...toolNames, ...(facts.clientTools ?? [])])],
    state: readCarriedState(request),
    echo: encodeEcho(request, facts.model),
    inputMessages: listInputMessages(request.input, hasHistory),
    hasHistory,
  };
}

/** Creates a default record, for a prompt of another surface viewed as a response. */
export function createUnrecordedRequest(
  model: string,
  trace: TraceMode = "pairs",
): RecordedRequest {
  const echo = { ...DEFAULTS, model };
  return {
    trace,
    isBackground: false,
    clientTools: [],
    state: {},
    echo,
    inputMessages: [],
    hasHistory: false,
  };
}

export function encodeNote(recorded: RecordedRequest): JsonObject {
  const { trace, isBackground, clientTools, state, echo, inputMessages, hasHistory } = recorded;
  return {
    surface: SURFACE,
    trace,
    isBackground,
    clientTools,
    state,
    echo,
    ...(inputMessages.length > 0 && { inputMessages }),
    ...(hasHistory && { hasHistory }),
  };
}

/**
 * Decodes a stored record. Null for the note of another surface. Fields missing in older records get their defaults.
 */
export function decodeNote(note: JsonObject | undefined): RecordedRequest | null {
  if (note === undefined || note["surface"] !== SURFACE) return null;
  const { trace, isBackground, clientTools, state, echo } = note;
  return {
    trace: TRACE_MODES.find((mode) => mode === trace) ?? "pairs",
    isBackground: isBackground === true,
    clientTools: Array.isArray(clientTools) ? clientTools.filter(isString) : [],
    state: isObject(state) ? state : {},
    echo: { ...DEFAULTS, ...(isObject(echo) ? echo : {}) },
    inputMessages: decodeInputMessages(note["inputMessages"]),
    hasHistory: note["hasHistory"] === true,
  };
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}

function encodeEcho(request: CreateRequest, model: string): JsonObject {
  const { sampling, reasoning } = request;
  return {
    model,
    previous_response_id: request.previousResponseId,
    instructions: request.instructions,
    tools: encodeToolsEcho(request.tools),
    tool_choice: encodeToolChoiceEcho(request.toolChoice),
    truncation: request.truncation,
    parallel_tool_calls: request.parallelToolCalls ?? DEFAULTS.parallel_tool_calls,
    text: encodeTextEcho(request),
    top_p: sampling.topP ?? DEFAULTS.top_p,
    presence_penalty: sampling.presencePenalty ?? DEFAULTS.presence_penalty,
    frequency_penalty: sampling.frequencyPenalty ?? DEFAULTS.frequency_penalty,
    top_logprobs: sampling.topLogprobs ?? DEFAULTS.top_logprobs,
    temperature: sampling.temperature ?? DEFAULTS.temperature,
    reasoning: reasoning === null ? null : { effort: reasoning.effort, summary: reasoning.summary },
    max_output_tokens: request.maxOutputTokens,
    max_tool_calls: request.maxToolCalls,
    store: request.store,
    background: request.background,
    service_tier: request.serviceTier ?? DEFAULTS.service_tier,
    metadata: request.metadata,
    safety_identifier: request.safetyIdentifier,
    prompt_cache_key: request.promptCacheKey,
  };
}

/**
 * Repeats all five fields of each tool. Above 32,768 characters, descriptions and schemas are omitted to keep the log
 * small; the specification allows this.
 */
function encodeToolsEcho(tools: CreateRequest["tools"]): JsonValue {
  const isLarge = JSON.stringify(tools).length > MAX_ECHOED_CHARACTERS;
  return tools.map(({ name, description, parameters, strict }) => ({
    type: "function",
    name,
    description: isLarge ? null : description,
    parameters: isLarge ? null : parameters,
    strict,
  }));
}

function encodeToolChoiceEcho(choice: RequestToolChoice): JsonValue {
  if (typeof choice === "string") return choice;
  if ("tool" in choice) return { type: "function", name: choice.tool };
  const tools = choice.allowed.map((name) => ({ type: "function", name }));
  return { type: "allowed_tools", tools, mode: choice.mode };
}

/** The specification allows only null for the schema here. */
function encodeTextEcho({ textFormat, verbosity }: CreateRequest): JsonValue {
  const extraFields = verbosity === null ? {} : { verbosity };
  if (textFormat.type !== "json_schema")
    return { format: { type: textFormat.type }, ...extraFields };
  const { type, name, description, strict } = textFormat;
  return { format: { type, name, description, schema: null, strict }, ...extraFields };
}

const SURFACE = "responses";
const MAX_ECHOED_CHARACTERS = 32_768;

/** The values for a request without optional fields. */
const DEFAULTS = {
  model: "",
  previous_response_id: null,
  instructions: null,
  tools: [],
  tool_choice: "auto",
  truncation: "disabled",
  parallel_tool_calls: true,
  text: { format: { type: "text" } },
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  top_logprobs: 0,
  temperature: 1,
  reasoning: null,
  max_output_tokens: null,
  max_tool_calls: null,
  store: true,
  background: false,
  service_tier: "default",
  metadata: {},
  safety_identifier: null,
  prompt_cache_key: null,
} as const;
