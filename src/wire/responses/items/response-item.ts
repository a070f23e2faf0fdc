/** A finished item of an Open Responses output. */
export type ResponseItem = FunctionCallItem | FunctionCallOutputItem | MessageItem | ReasoningItem;

/** `incomplete` means a truncated item, never a failed tool. */
export type ItemStatus = "completed" | "incomplete";

export interface FunctionCallItem {
  readonly id: string;
  readonly type: "function_call";
  readonly call_id: string;
  readonly name: string;
  /** JSON text of an object. For an incomplete tool call, the streamed part. */
  readonly arguments: string;
  readonly status: ItemStatus;
}

export interface FunctionCallOutputItem {
  readonly id: string;
  readonly type: "function_call_output";
  readonly call_id: string;
  readonly output: string | readonly InputText[];
  readonly status: ItemStatus;
  /** The specification has no status for a failed tool, so `is_error` and `error` are Spanline extensions. */
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

/** A system or developer message of a request. An output has none. */
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
  /** Reasoning encrypted by the provider, as base64. */
  readonly encrypted_content?: string;
  /** The model's signature of its reasoning. A Spanline extension, separate from encrypted content. */
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
