import type { RESPONSE_SCHEMAS } from "./response-schemas.ts";
import type { REQUEST_SCHEMAS } from "./request-schemas.ts";

/** One thing that can be asked of the surface. */
export interface Operation {
  readonly method: "get" | "post" | "delete";
  readonly path: string;
  readonly id: string;
  readonly summary: string;
  readonly body?: keyof typeof REQUEST_SCHEMAS;
  readonly response: keyof typeof RESPONSE_SCHEMAS;
  /** It may be a stream of events. */
  readonly isStreamed?: true;
  /** Names in the query, beside those in the path. */
  readonly query?: readonly string[];
  /** It is always refused, and the summary says why. */
  readonly isUnsupported?: true;
}

const PAGE_PARAMETERS = ["limit", "order", "after"];

export const OPERATIONS: readonly Operation[] = [
  {
    method: "post",
    path: "/responses",
    id: "createResponse",
    summary: "Asks an agent; whole, as a stream, or in the background.",
    body: "CreateResponse",
    response: "Response",
    isStreamed: true,
    query: ["trace"],
  },
  {
    method: "post",
    path: "/responses/compact",
    id: "compactInput",
    summary: "Packs a conversation into one item.",
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
    summary: "A response as far as it has come, or its stream once more.",
    response: "Response",
    isStreamed: true,
    query: ["stream", "starting_after", "trace"],
  },
  {
    method: "delete",
    path: "/responses/{id}",
    id: "deleteResponse",
    summary: "Has a response not be found any more.",
    response: "DeletedResponse",
  },
  {
    method: "post",
    path: "/responses/{id}/cancel",
    id: "cancelResponse",
    summary: "Ends a response that runs in the background.",
    response: "Response",
  },
  {
    method: "get",
    path: "/responses/{id}/input_items",
    id: "listInputItems",
    summary: "What a response was asked with.",
    response: "ItemList",
    query: PAGE_PARAMETERS,
  },
  {
    method: "post",
    path: "/chat/completions",
    id: "createCompletion",
    summary: "Asks an agent, as a chat completion.",
    body: "CreateCompletion",
    response: "Completion",
    isStreamed: true,
    query: ["trace"],
  },
  {
    method: "post",
    path: "/inference",
    id: "createInference",
    summary: "One turn of an evaluation by AI GO!.",
    body: "CreateInference",
    response: "Inference",
  },
  {
    method: "post",
    path: "/conversations",
    id: "createConversation",
    summary: "Begins a session, with what was said before it.",
    body: "CreateConversation",
    response: "Conversation",
  },
  {
    method: "get",
    path: "/conversations/{id}",
    id: "getConversation",
    summary: "A session of the caller's.",
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
    summary: "Deletes a session with all that was said in it.",
    response: "DeletedConversation",
  },
  {
    method: "get",
    path: "/conversations/{id}/items",
    id: "listItems",
    summary: "All that was asked and answered.",
    response: "ItemList",
    query: PAGE_PARAMETERS,
  },
  {
    method: "post",
    path: "/conversations/{id}/items",
    id: "createItems",
    summary: "Adds what was said elsewhere, before the agent is told it.",
    body: "CreateItems",
    response: "ItemList",
  },
  {
    method: "get",
    path: "/conversations/{id}/items/{item}",
    id: "getItem",
    summary: "One item of a session.",
    response: "Item",
  },
  {
    method: "get",
    path: "/models",
    id: "listModels",
    summary: "The agents that the caller may use.",
    response: "ModelList",
  },
  {
    method: "get",
    path: "/models/{id}",
    id: "getModel",
    summary: "One of them.",
    response: "Model",
  },
  {
    method: "get",
    path: "/openapi.json",
    id: "getDocument",
    summary: "This document.",
    response: "Document",
  },
];
