import { isObject, type JsonObject, type JsonValue } from "../../data/json.ts";
import { readCarriedState } from "./request/session-carriers.ts";
import type { CreateRequest, RequestToolChoice } from "./request/create-request.ts";
import {
  decodeInputMessages,
  listInputMessages,
  type InputMessage,
} from "./request/input-messages.ts";
import { TRACE_MODES, type TraceMode } from "../../domain/responses-settings.ts";

/** All of a request that its response is made with: the log keeps it beside the prompt, and nothing else is needed. */
export interface RecordedRequest {
  readonly trace: TraceMode;
  readonly isBackground: boolean;
  /** The caller's tools: their calls are for the caller to run, however others are shown. */
  readonly clientTools: readonly string[];
  /** Carried along on what the assistant says. */
  readonly state: JsonObject;
  /** What the response says again of the request, in the words of the wire. */
  readonly echo: JsonObject;
  /** The messages of the request, if the prompt alone does not show them; else empty. */
  readonly inputMessages: readonly InputMessage[];
  /** The session was opened with earlier messages of the request. */
  readonly hasHistory: boolean;
}

export interface RecordingContext {
  /** What the response calls its model: the agent's name, where the request named none. */
  readonly model: string;
  readonly trace: TraceMode;
  /** Of the turn that a request with results goes on with. */
  readonly clientTools?: readonly string[];
  /** The session was opened with earlier messages of the request. Default: false. */
  readonly hasHistory?: boolean;
}

/** The request as it is kept beside its prompt. Of the input it has the places where messages end: the events have its text. */
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

/** For a prompt that came another way, and is looked at as a response all the same. */
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

/** Null for a note of somebody else's. What an older version did not write has its default. */
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

/** All five fields of each. Of very many the schemas are left out, as the specification allows: a log is no place for them. */
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

/** The specification admits no schema here but null. */
function encodeTextEcho({ textFormat, verbosity }: CreateRequest): JsonValue {
  const extraFields = verbosity === null ? {} : { verbosity };
  if (textFormat.type !== "json_schema")
    return { format: { type: textFormat.type }, ...extraFields };
  const { type, name, description, strict } = textFormat;
  return { format: { type, name, description, schema: null, strict }, ...extraFields };
}

const SURFACE = "responses";
const MAX_ECHOED_CHARACTERS = 32_768;

/** What a request that says nothing asks for. */
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
