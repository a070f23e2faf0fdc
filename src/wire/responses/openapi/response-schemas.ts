import {
  enumeration,
  count,
  boolean,
  list,
  map,
  nullable,
  number,
  object,
  ref,
  string,
  type Schema,
} from "./schema-builders.ts";

const ITEM_STATUS = enumeration("in_progress", "completed", "incomplete", "failed");
const USAGE_FIELDS = {
  input_tokens: count(),
  input_tokens_details: object({ cached_tokens: count() }, ["cached_tokens"]),
  output_tokens: count(),
  output_tokens_details: object({ reasoning_tokens: count() }, ["reasoning_tokens"]),
  total_tokens: count(),
};
const ECHO_FIELDS: { readonly [name: string]: Schema } = {
  model: string("The name of the agent as in the request."),
  previous_response_id: nullable(string("As in the request.")),
  instructions: nullable(string("As in the request.")),
  tools: list(object({})),
  tool_choice: {},
  truncation: enumeration("auto", "disabled"),
  parallel_tool_calls: boolean(),
  text: object({ format: object({}) }, ["format"]),
  top_p: number(0, 1),
  presence_penalty: number(-2, 2),
  frequency_penalty: number(-2, 2),
  top_logprobs: count(),
  temperature: number(0, 2),
  reasoning: nullable(object({})),
  max_output_tokens: nullable(count()),
  max_tool_calls: nullable(count()),
  store: boolean(),
  background: boolean(),
  service_tier: string("As in the request."),
  metadata: map({ type: "string" }),
  safety_identifier: nullable({ type: "string" }),
  prompt_cache_key: nullable({ type: "string" }),
};
const RESPONSE_FIELDS: { readonly [name: string]: Schema } = {
  id: string("Contains the session id and the position of the response in the log."),
  object: enumeration("response"),
  created_at: count(),
  completed_at: nullable(count()),
  status: enumeration("queued", "in_progress", "completed", "incomplete", "failed", "cancelled"),
  incomplete_details: nullable(object({ reason: string("The reason.") }, ["reason"])),
  error: nullable(
    object({ code: string("The error code."), message: string("The error message.") }, [
      "code",
      "message",
    ]),
  ),
  output: list(ref("Item")),
  usage: nullable(ref("Usage")),
  ...ECHO_FIELDS,
};

/** Schema of one page of a list. */
function createPageSchema(item: string): Schema {
  return object(
    {
      object: enumeration("list"),
      data: list(ref(item)),
      first_id: nullable({ type: "string" }),
      last_id: nullable({ type: "string" }),
      has_more: boolean(),
    },
    ["object", "data", "first_id", "last_id", "has_more"],
  );
}

const ASSISTANT_MESSAGE = object(
  {
    role: enumeration("assistant"),
    content: { type: ["string", "null"] },
    refusal: { type: "null" },
    tool_calls: list(object({})),
    session_id: string("The session id. Send it back with the message."),
    trace: list(object({})),
  },
  ["role", "content", "refusal"],
);

/** Schemas of response bodies. */
export const RESPONSE_SCHEMAS = {
  Error: object(
    {
      error: object(
        {
          message: string("The problem and how to fix it."),
          type: string("The error type, as in OpenAI's API."),
          param: nullable(string("The field with the problem.")),
          code: nullable(string("A stable code for programs.")),
        },
        ["message", "type", "param", "code"],
      ),
      partial: {
        ...ASSISTANT_MESSAGE,
        description: "The message of a completion before the failure.",
      },
    },
    ["error"],
  ),
  Item: object(
    { id: string("Contains the session id."), type: string("The item type."), status: ITEM_STATUS },
    ["id", "type"],
  ),
  Usage: object(USAGE_FIELDS, Object.keys(USAGE_FIELDS)),
  Response: object(
    {
      ...RESPONSE_FIELDS,
      conversation: object({ id: string("The session id.") }, ["id"]),
      session_id: string("The session id."),
      awaiting_approval: {
        ...list(object({})),
        description:
          "Approvals required before the response continues. Present only while it waits.",
      },
    },
    [...Object.keys(RESPONSE_FIELDS), "conversation", "session_id"],
  ),
  ItemList: createPageSchema("Item"),
  Compaction: object(
    {
      id: string("The id of the compaction."),
      object: enumeration("response.compaction"),
      created_at: count(),
      output: list(
        object({ type: enumeration("compaction"), encrypted_content: { type: "string" } }),
      ),
      usage: ref("Usage"),
    },
    ["id", "object", "created_at", "output", "usage"],
  ),
  DeletedResponse: createDeletedSchema("response"),
  Completion: object(
    {
      id: string("Contains the session id."),
      object: enumeration("chat.completion"),
      created: count(),
      model: string("The name of the agent as in the request."),
      choices: list(
        object(
          {
            index: { const: 0 },
            message: ASSISTANT_MESSAGE,
            logprobs: { type: "null" },
            finish_reason: enumeration("stop", "length", "content_filter", "tool_calls"),
          },
          ["index", "message", "finish_reason"],
        ),
        1,
      ),
      usage: object({ prompt_tokens: count(), completion_tokens: count(), total_tokens: count() }),
    },
    ["id", "object", "created", "model", "choices"],
  ),
  Inference: object(
    {
      items: list(ref("Item"), 1),
      usage: object({ num_prompt_tokens: count(), num_completion_tokens: count() }, [
        "num_prompt_tokens",
        "num_completion_tokens",
      ]),
    },
    ["items", "usage"],
  ),
  Conversation: object(
    {
      id: string("The session id."),
      object: enumeration("conversation"),
      created_at: count(),
      metadata: map({ type: "string" }),
    },
    ["id", "object", "created_at", "metadata"],
  ),
  DeletedConversation: createDeletedSchema("conversation.deleted"),
  Model: object(
    {
      id: string("The name of the agent."),
      object: enumeration("model"),
      created: count(),
      owned_by: string("Spanline."),
    },
    ["id", "object", "created", "owned_by"],
  ),
  ModelList: object({ object: enumeration("list"), data: list(ref("Model")) }, ["object", "data"]),
  Document: object({ openapi: { type: "string" } }, ["openapi"]),
} as const;

function createDeletedSchema(kind: string): Schema {
  const fields = {
    id: string("The id of the deleted object."),
    object: enumeration(kind),
    deleted: { const: true },
  };
  return object(fields, Object.keys(fields));
}
