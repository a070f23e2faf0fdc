export interface Difference {
  /** The first cell of the row in `docs/conformance/a2a.md` which explains the difference. */
  readonly topic: string;
  /** The beginning of Spanline's response and of the official server's response, by the title of the request. */
  readonly requests: { readonly [title: string]: readonly [spanline: string, official: string] };
}

const TASK = "200 application/json {id=1 result{task{";
const LIST = "200 application/json {id=1 result{nextPageToken";
const INVALID = "200 id 1 -32602";

/** Every difference between Spanline and the default handler of the official SDK. */
export const DIFFERENCES: readonly Difference[] = [
  {
    topic: "messages that are not JSON-RPC requests",
    requests: {
      "JSON-RPC: an empty object": ["200 id null -32600", "200 id null -32602"],
      "JSON-RPC: an empty list": ["200 id null -32600", "200 id null -32602"],
      "JSON-RPC: a string": ["200 id null -32600", "200 id null -32700"],
      "JSON-RPC: a method that is not text": ["200 id 1 -32600", INVALID],
      "JSON-RPC: a notification": ["200 id null -32600", "200 id null -32001"],
      "JSON-RPC: version 1.0 of JSON-RPC": ["200 id 1 -32600", INVALID],
      "JSON-RPC: an id that is an object": ["200 id null -32600", "200 id {} -32602"],
    },
  },
  {
    topic: "the header `A2A-Version`",
    requests: {
      "ListTasks: version 1.0.1": [LIST, "200 id 1 -32009 VERSION_NOT_SUPPORTED"],
      "ListTasks: no version": [LIST, "200 id 1 -32601"],
      "GET /a2a/tasks: no version": [
        "200 application/a2a+json {nextPageToken",
        "400 400 FAILED_PRECONDITION VERSION_NOT_SUPPORTED",
      ],
    },
  },
  {
    topic: "the reason of errors in version 0.3",
    requests: {
      "tasks/get: no version": ["200 id 1 -32001 TASK_NOT_FOUND", "200 id 1 -32001 none"],
      "tasks/cancel: an unknown id, version 0.3": [
        "200 id 1 -32001 TASK_NOT_FOUND",
        "200 id 1 -32001 none",
      ],
    },
  },
  {
    topic: "messages with missing or wrong fields",
    requests: {
      "SendMessage: no role": [INVALID, TASK],
      "SendMessage: the role of the agent": [INVALID, TASK],
      "SendMessage: an unknown role": [INVALID, TASK],
      "SendMessage: a messageId that is a number": [INVALID, TASK],
      "SendMessage: no parts": [INVALID, TASK],
      "SendMessage: an empty list of parts": [INVALID, TASK],
      "SendMessage: parts that are text": [INVALID, TASK],
      "SendMessage: an empty part": [INVALID, TASK],
      "SendMessage: a part that is a number": [INVALID, TASK],
    },
  },
  {
    topic: "other fields of a wrong type",
    requests: {
      "GetTask: an id that is a number": [INVALID, "200 id 1 -32001 TASK_NOT_FOUND"],
      "GetTask: historyLength -1": [INVALID, "200 application/json {id=1 result{artifacts"],
      "GetTask: historyLength as text": [INVALID, "200 application/json {id=1 result{artifacts"],
      "ListTasks: historyLength -1": [INVALID, LIST],
    },
  },
  {
    topic: "a `contextId` chosen by the client",
    requests: { "SendMessage: a context of the client": [INVALID, TASK] },
  },
  {
    topic: "data in the history",
    requests: {
      "SendMessage: a data part": [
        `${TASK}artifacts[{artifactId name parts[{text}]}] contextId history[{contextId messageId parts[{text}]`,
        `${TASK}artifacts[{artifactId name parts[{text}]}] contextId history[{contextId messageId parts[{data`,
      ],
    },
  },
  {
    topic: "a push configuration in a message",
    requests: {
      "SendMessage: a send with a push configuration": [
        "200 id 1 -32003 PUSH_NOTIFICATION_NOT_SUPPORTED",
        TASK,
      ],
    },
  },
  {
    topic: "fields of the card",
    requests: {
      "GET /.well-known/agent-card.json: the card": [
        "200 application/json {capabilities{extendedAgentCard",
        "200 application/json {capabilities{extendedAgentCard",
      ],
      "GetExtendedAgentCard: the card": [
        "200 application/json {id=1 result{capabilities{extendedAgentCard",
        "200 application/json {id=1 result{capabilities{extendedAgentCard",
      ],
      "GET /a2a/extendedAgentCard: the card": [
        "200 application/a2a+json {capabilities{extendedAgentCard",
        "200 application/a2a+json {capabilities{extendedAgentCard",
      ],
    },
  },
  {
    topic: "unknown paths",
    requests: {
      "GET /a2a/nope: an unknown path": ["404 404 NOT_FOUND", "404 text/html"],
      "GET /a2a/message:send: another HTTP method": ["405 405 NOT_FOUND", "404 text/html"],
    },
  },
];
