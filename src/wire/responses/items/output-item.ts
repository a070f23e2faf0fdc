import type { ToolEnding } from "../../../domain/events/tool-events.ts";
import type {
  AssistantMessageItem,
  FunctionCallItem,
  FunctionCallOutputItem,
  ItemStatus,
  ReasoningItem,
  UserMessageItem,
} from "./response-item.ts";

/** A finished item in a response of a session. */
export type OutputItem =
  | (AssistantMessageItem & SessionFields)
  | UserMessageItem
  | (FunctionCallItem & NameFields)
  | (FunctionCallOutputItem & EndingFields)
  | ReasoningItem
  | McpCallItem
  | ToolCallItem;

/** Fields of assistant messages, for callers which send only the messages back. Carried state is added next to them. */
interface SessionFields {
  readonly session_id: string;
  /** True if the agent withdrew the text after it was sent. */
  readonly withdrawn?: true;
}

interface NameFields {
  /** The name of the tool, if the API does not accept the name. */
  readonly original_name?: string;
}

interface EndingFields {
  /** The ending of a tool call which did not succeed, for example denied or timed out. */
  readonly ending?: ToolEnding;
}

/** OpenAI's item for a tool run by the server. Not part of the specification, but read by every client. */
export interface McpCallItem extends NameFields {
  readonly id: string;
  readonly type: "mcp_call";
  readonly server_label: string;
  readonly name: string;
  readonly arguments: string;
  readonly output: string | null;
  readonly error: string | null;
  readonly status: ItemStatus | "failed";
  readonly approval_request_id: null;
}

/** A Spanline item: a tool call with its result. */
export interface ToolCallItem extends NameFields {
  readonly id: string;
  readonly type: "spanline:tool_call";
  readonly call_id: string;
  readonly name: string;
  readonly server?: string;
  readonly arguments: string;
  readonly output: string | null;
  readonly is_error: boolean;
  readonly error: string | null;
  readonly ending: ToolEnding | null;
  readonly status: ItemStatus;
}
