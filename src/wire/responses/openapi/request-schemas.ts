import { TRACE_MODES } from "../../../domain/responses-settings.ts";
import {
  enumeration,
  count,
  boolean,
  list,
  map,
  nullable,
  number,
  object,
  string,
} from "./schema-builders.ts";

/** Schemas of request bodies. They list the supported fields only. */
export const REQUEST_SCHEMAS = {
  CreateResponse: object({
    model: nullable(
      string("The name of an agent. Default: the agent of the session, or the first agent."),
    ),
    input: {
      type: ["string", "array", "null"],
      description: "The input: a string or a list of items.",
    },
    previous_response_id: nullable(
      string("The response to continue from: the last of its session."),
    ),
    conversation: {
      type: ["string", "object", "null"],
      description: "A session id, or `{id}` with a session id.",
    },
    session_id: nullable(string("A session id.")),
    instructions: nullable(string("Instructions for this request only.")),
    include: nullable(list({ type: "string" })),
    tools: nullable(
      list(
        object({ type: enumeration("function"), name: string("The name of the tool.") }, [
          "type",
          "name",
        ]),
      ),
    ),
    tool_choice: { description: "`auto`, `none`, a function, or `allowed_tools`." },
    parallel_tool_calls: nullable(boolean()),
    max_output_tokens: nullable(count(16)),
    max_tool_calls: nullable(count(1)),
    budget: nullable(
      object({
        tokens: count(1),
        seconds: number(0, Number.MAX_SAFE_INTEGER),
        tool_calls: count(1),
        invocations: count(1),
        usd: number(0, Number.MAX_SAFE_INTEGER),
      }),
    ),
    temperature: nullable(number(0, 2)),
    top_p: nullable(number(0, 1)),
    presence_penalty: nullable(number(-2, 2)),
    frequency_penalty: nullable(number(-2, 2)),
    top_logprobs: nullable(number(0, 20)),
    reasoning: nullable(object({})),
    text: nullable(object({})),
    truncation: nullable(enumeration("auto", "disabled")),
    store: nullable(boolean("Whether the response can be retrieved later. Default: true.")),
    background: nullable(
      boolean("Returns at once; the turn continues after the caller disconnects."),
    ),
    stream: nullable(boolean()),
    stream_options: nullable(object({})),
    service_tier: nullable(enumeration("auto", "default", "flex", "priority")),
    metadata: nullable(map({ type: "string", maxLength: 512 })),
    safety_identifier: nullable({ type: "string", maxLength: 64 }),
    prompt_cache_key: nullable({ type: "string", maxLength: 64 }),
    trace: nullable(enumeration(...TRACE_MODES)),
  }),
  CreateCompletion: object(
    {
      model: nullable(string("The name of an agent.")),
      messages: list(object({ role: string("The role of the message.") }, ["role"]), 1),
      session_id: nullable(string("A session id; also accepted on assistant messages.")),
      metadata: nullable(map({ type: "string", maxLength: 512 })),
      tools: nullable(list(object({ type: enumeration("function") }, ["type", "function"]))),
      tool_choice: { description: "`auto`, `none`, a function, or `allowed_tools`." },
      stream: nullable(boolean()),
      stream_options: nullable(object({ include_usage: boolean() })),
      max_tokens: nullable(count(1)),
      max_completion_tokens: nullable(count(1)),
      user: nullable({ type: "string" }),
      n: { enum: [1, null] },
    },
    ["messages"],
  ),
  CreateInference: object(
    {
      model: nullable(string("The name of an agent.")),
      messages: list(object({ role: string("The role of the message.") }, ["role"]), 1),
      session_id: nullable(string("A session id; also accepted on assistant messages.")),
    },
    ["messages"],
  ),
  CreateConversation: object({
    model: nullable(string("The name of the agent of the conversation.")),
    items: nullable(list(object({}))),
    metadata: nullable(map({ type: "string", maxLength: 512 })),
  }),
  UpdateConversation: object({ metadata: map({ type: "string", maxLength: 512 }) }, ["metadata"]),
  CreateItems: object({ items: list(object({}), 1) }, ["items"]),
} as const;
