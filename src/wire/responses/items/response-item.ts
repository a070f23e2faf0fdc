/** A finished item of an Open Responses output. */
export type ResponseItem = FunctionCallItem | FunctionCallOutputItem | MessageItem | ReasoningItem;

/** `incomplete` says that the item was cut, never that a tool failed. */
export type ItemStatus = "completed" | "incomplete";

export interface FunctionCallItem {
  readonly id: string;
  readonly type: "function_call";
  readonly call_id: string;
  readonly name: string;
  /** JSON text of an object; of an incomplete call whatever was streamed. */
  readonly arguments: string;
  readonly status: ItemStatus;
}

export interface FunctionCallOutputItem {
  readonly id: string;
  readonly type: "function_call_output";
  readonly call_id: string;
  readonly output: string | readonly InputText[];
  readonly status: ItemStatus;
  /** The specification has no status for a tool that failed, so these two are ours. */
  readonly is_error?: true;
  readonly error?: string;
}

export type MessageItem = AssistantMessageItem | UserMessageItem;

export interface AssistantMessageItem {
  readonly id: string;
  readonly type: "message";
  readonly status: ItemStatus;
  readonly role: "assistant";
  readonly content: readonly OutputText[];
  readonly phase: "commentary" | "final_answer";
}

export interface UserMessageItem {
  readonly id: string;
  readonly type: "message";
  readonly status: ItemStatus;
  readonly role: "user";
  readonly content: readonly InputText[];
}

/** Instructions as a request has them among its messages. An output has none. */
export interface SystemMessageItem {
  readonly id: string;
  readonly type: "message";
  readonly status: ItemStatus;
  readonly role: "system" | "developer";
  readonly content: readonly InputText[];
}

export interface ReasoningItem {
  readonly id: string;
  readonly type: "reasoning";
  readonly status: ItemStatus;
  readonly summary: readonly { readonly type: "summary_text"; readonly text: string }[];
  readonly content?: readonly { readonly type: "reasoning_text"; readonly text: string }[];
  /** Reasoning that the provider encrypted, in base64. */
  readonly encrypted_content?: string;
  /** The model's seal over its reasoning; ours, so that it is not taken for encrypted content. */
  readonly signature?: string;
}

export interface OutputText {
  readonly type: "output_text";
  readonly text: string;
  readonly annotations: readonly never[];
}

export interface InputText {
  readonly type: "input_text";
  readonly text: string;
}
