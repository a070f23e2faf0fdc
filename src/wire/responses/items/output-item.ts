import type { ToolEnding } from "../../../domain/events/tool-events.ts";
import type {
  AssistantMessageItem,
  FunctionCallItem,
  FunctionCallOutputItem,
  ItemStatus,
  ReasoningItem,
  UserMessageItem,
} from "./response-item.ts";

/** A finished item of a response that a session gives. */
export type OutputItem =
  | (AssistantMessageItem & SessionFields)
  | UserMessageItem
  | (FunctionCallItem & NameFields)
  | (FunctionCallOutputItem & EndingFields)
  | ReasoningItem
  | McpCallItem
  | ToolCallItem;

/** On what the assistant says, for callers who send nothing else back; with the state that they carry. */
interface SessionFields {
  readonly session_id: string;
  /** What the agent took back after it was shown. */
  readonly withdrawn?: true;
}

interface NameFields {
  /** The tool's own name, where the API does not take it. */
  readonly original_name?: string;
}

interface EndingFields {
  /** How a call ended that did not succeed: denied, timed out. */
  readonly ending?: ToolEnding;
}

/** OpenAI's item for a tool that the server ran: not in the specification's list, and read by every client. */
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

/** Our own: a call with its result. */
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
