import type { RESPONSE_SCHEMAS } from "./response-schemas.ts";
import type { REQUEST_SCHEMAS } from "./request-schemas.ts";

/** One operation of the HTTP surface. */
export interface Operation {
  readonly method: "get" | "post" | "delete";
  readonly path: string;
  readonly id: string;
  readonly summary: string;
  readonly body?: keyof typeof REQUEST_SCHEMAS;
  readonly response: keyof typeof RESPONSE_SCHEMAS;
  /** The response may be an event stream. */
  readonly isStreamed?: true;
  /** Names of query parameters. */
  readonly query?: readonly string[];
  /** Always refused; the summary gives the reason. */
  readonly isUnsupported?: true;
}

const PAGE_PARAMETERS = ["limit", "order", "after"];

export const OPERATIONS: readonly Operation[] = [
  {
    method: "post",
    path: "/responses",
    id: "createResponse",
    summary: "Runs an agent and returns a response, a stream, or a background response.",
    body: "CreateResponse",
    response: "Response",
    isStreamed: true,
    query: ["trace"],
  },
  {
    method: "post",
    path: "/responses/compact",
    id: "compactInput",
    summary: "Compacts a conversation into one item.",
    body: "CreateResponse",
    response: "Compaction",
  },
  {
    method: "post",
    path: "/responses/input_tokens",
    id: "countTokens",
    summary: "Refused: tokens are not counted before an agent runs.",
    body: "CreateResponse",
    response: "Response",
    isUnsupported: true,
  },
  {
    method: "get",
    path: "/responses/{id}",
    id: "getResponse",
    summary: "Returns the current state of a response, or replays its stream.",
    response: "Response",
    isStreamed: true,
    query: ["stream", "starting_after", "trace"],
  },
  {
    method: "delete",
    path: "/responses/{id}",
    id: "deleteResponse",
    summary: "Hides a response.",
    response: "DeletedResponse",
  },
  {
    method: "post",
    path: "/responses/{id}/cancel",
    id: "cancelResponse",
    summary: "Cancels a background response.",
    response: "Response",
  },
  {
    method: "get",
    path: "/responses/{id}/input_items",
    id: "listInputItems",
    summary: "Lists the input items of a response.",
    response: "ItemList",
    query: PAGE_PARAMETERS,
  },
  {
    method: "post",
    path: "/chat/completions",
    id: "createCompletion",
    summary: "Runs an agent and returns a chat completion.",
    body: "CreateCompletion",
    response: "Completion",
    isStreamed: true,
    query: ["trace"],
  },
  {
    method: "post",
    path: "/inference",
    id: "createInference",
    summary: "Runs one turn of an AI GO! evaluation.",
    body: "CreateInference",
    response: "Inference",
  },
  {
    method: "post",
    path: "/conversations",
    id: "createConversation",
    summary: "Creates a session with optional earlier messages.",
    body: "CreateConversation",
    response: "Conversation",
  },
  {
    method: "get",
    path: "/conversations/{id}",
    id: "getConversation",
    summary: "Returns a session of the caller.",
    response: "Conversation",
  },
  {
    method: "post",
    path: "/conversations/{id}",
    id: "updateConversation",
    summary: "Replaces the metadata of a session.",
    body: "UpdateConversation",
    response: "Conversation",
  },
  {
    method: "delete",
    path: "/conversations/{id}",
    id: "deleteConversation",
    summary: "Deletes a session with all its messages.",
    response: "DeletedConversation",
  },
  {
    method: "get",
    path: "/conversations/{id}/items",
    id: "listItems",
    summary: "Lists all items of a session.",
    response: "ItemList",
    query: PAGE_PARAMETERS,
  },
  {
    method: "post",
    path: "/conversations/{id}/items",
    id: "createItems",
    summary: "Adds earlier messages before the first turn.",
    body: "CreateItems",
    response: "ItemList",
  },
  {
    method: "get",
    path: "/conversations/{id}/items/{item}",
    id: "getItem",
    summary: "Returns one item of a session.",
    response: "Item",
  },
  {
    method: "get",
    path: "/models",
    id: "listModels",
    summary: "Lists the agents available to the caller.",
    response: "ModelList",
  },
  {
    method: "get",
    path: "/models/{id}",
    id: "getModel",
    summary: "Returns one agent.",
    response: "Model",
  },
  {
    method: "get",
    path: "/openapi.json",
    id: "getDocument",
    summary: "Returns this document.",
    response: "Document",
  },
];
