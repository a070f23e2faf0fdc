import {
  choice,
  count,
  flag,
  list,
  map,
  nullable,
  number,
  object,
  ref,
  text,
  type Schema,
} from "./schema.ts";

const ITEM_STATUS = choice("in_progress", "completed", "incomplete", "failed");
const USAGE_FIELDS = {
  input_tokens: count(),
  input_tokens_details: object({ cached_tokens: count() }, ["cached_tokens"]),
  output_tokens: count(),
  output_tokens_details: object({ reasoning_tokens: count() }, ["reasoning_tokens"]),
  total_tokens: count(),
};
const ECHO: { readonly [name: string]: Schema } = {
  model: text("As the request called the agent."),
  previous_response_id: nullable(text("As in the request.")),
  instructions: nullable(text("As in the request.")),
  tools: list(object({})),
  tool_choice: {},
  truncation: choice("auto", "disabled"),
  parallel_tool_calls: flag(),
  text: object({ format: object({}) }, ["format"]),
  top_p: number(0, 1),
  presence_penalty: number(-2, 2),
  frequency_penalty: number(-2, 2),
  top_logprobs: count(),
  temperature: number(0, 2),
  reasoning: nullable(object({})),
  max_output_tokens: nullable(count()),
  max_tool_calls: nullable(count()),
  store: flag(),
  background: flag(),
  service_tier: text("As in the request."),
  metadata: map({ type: "string" }),
  safety_identifier: nullable({ type: "string" }),
  prompt_cache_key: nullable({ type: "string" }),
};
const RESPONSE: { readonly [name: string]: Schema } = {
  id: text("Says its session, and where in it the response begins."),
  object: choice("response"),
  created_at: count(),
  completed_at: nullable(count()),
  status: choice("queued", "in_progress", "completed", "incomplete", "failed", "cancelled"),
  incomplete_details: nullable(object({ reason: text("Why.") }, ["reason"])),
  error: nullable(object({ code: text("What."), message: text("In words.") }, ["code", "message"])),
  output: list(ref("Item")),
  usage: nullable(ref("Usage")),
  ...ECHO,
};

/** A list with its page. */
function pageOf(item: string): Schema {
  return object(
    {
      object: choice("list"),
      data: list(ref(item)),
      first_id: nullable({ type: "string" }),
      last_id: nullable({ type: "string" }),
      has_more: flag(),
    },
    ["object", "data", "first_id", "last_id", "has_more"],
  );
}

const ASSISTANT_MESSAGE = object(
  {
    role: choice("assistant"),
    content: { type: ["string", "null"] },
    refusal: { type: "null" },
    tool_calls: list(object({})),
    session_id: text("To be sent back with the message."),
    trace: list(object({})),
  },
  ["role", "content", "refusal"],
);

/** What answers say. */
export const ANSWER_SCHEMAS = {
  Error: object(
    {
      error: object(
        {
          message: text("What is wrong, and what to do about it."),
          type: text("The kind, as OpenAI has it."),
          param: nullable(text("The field that it is about.")),
          code: nullable(text("For programs.")),
        },
        ["message", "type", "param", "code"],
      ),
      partial: {
        ...ASSISTANT_MESSAGE,
        description: "What a completion had said before it failed.",
      },
    },
    ["error"],
  ),
  Item: object({ id: text("Says its session."), type: text("Its kind."), status: ITEM_STATUS }, [
    "id",
    "type",
  ]),
  Usage: object(USAGE_FIELDS, Object.keys(USAGE_FIELDS)),
  Response: object(
    {
      ...RESPONSE,
      conversation: object({ id: text("The session.") }, ["id"]),
      session_id: text("The session."),
      awaiting_approval: {
        ...list(object({})),
        description: "What somebody has to allow before it goes on; only while it waits.",
      },
    },
    [...Object.keys(RESPONSE), "conversation", "session_id"],
  ),
  ItemList: pageOf("Item"),
  Compaction: object(
    {
      id: text("Its name."),
      object: choice("response.compaction"),
      created_at: count(),
      output: list(object({ type: choice("compaction"), encrypted_content: { type: "string" } })),
      usage: ref("Usage"),
    },
    ["id", "object", "created_at", "output", "usage"],
  ),
  DeletedResponse: deleted("response"),
  Completion: object(
    {
      id: text("Says its session."),
      object: choice("chat.completion"),
      created: count(),
      model: text("As the request called the agent."),
      choices: list(
        object(
          {
            index: { const: 0 },
            message: ASSISTANT_MESSAGE,
            logprobs: { type: "null" },
            finish_reason: choice("stop", "length", "content_filter", "tool_calls"),
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
      id: text("The session."),
      object: choice("conversation"),
      created_at: count(),
      metadata: map({ type: "string" }),
    },
    ["id", "object", "created_at", "metadata"],
  ),
  DeletedConversation: deleted("conversation.deleted"),
  Model: object(
    {
      id: text("The agent's name."),
      object: choice("model"),
      created: count(),
      owned_by: text("Spanline."),
    },
    ["id", "object", "created", "owned_by"],
  ),
  ModelList: object({ object: choice("list"), data: list(ref("Model")) }, ["object", "data"]),
  Document: object({ openapi: { type: "string" } }, ["openapi"]),
} as const;

function deleted(kind: string): Schema {
  const fields = { id: text("What was deleted."), object: choice(kind), deleted: { const: true } };
  return object(fields, Object.keys(fields));
}
