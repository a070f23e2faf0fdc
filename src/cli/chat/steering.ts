import type {
  Client,
  InjectResult,
  PendingInjection,
  SessionUpdate,
  ToolUpdate,
} from "../../host/index.ts";

/** A message of this chat, for the running turn or a separate turn, which the agent has not received yet. */
export interface SteeredMessage {
  readonly text: string;
  readonly mode: "steer" | "queue";
  /** The reply of the session. Undefined until the message is accepted. */
  readonly accepted: InjectResult | undefined;
}

/** The messages which a chat sends while a turn runs. */
export interface ChatSteering {
  /** The messages that are not delivered, in the order of their submission. */
  readonly pending: readonly SteeredMessage[];
  /** Sends a message. Resolves with its reply. */
  send(text: string, mode: SteeredMessage["mode"]): Promise<InjectResult>;
  /** Stops the running tool call that started last. Returns its title, or undefined if no tool call is running. */
  skipTool(): Promise<string | undefined>;
  /** Reads the delivery of a message, and the running tool calls, from an update. */
  update(update: SessionUpdate): void;
  /** Revokes all pending messages. Returns the texts that the agent will not receive. */
  recall(): Promise<readonly string[]>;
  /** Lists the pending messages and reminders of all clients, in the order that `revoke` refers to. */
  list(): Promise<readonly PendingInjection[]>;
  /** Replaces the text of the message at a position of the last `list`, from 1. */
  replace(position: number, text: string): Promise<"replaced" | "unknown" | "reminder">;
  /** Revokes the entry at a position of the last `list`, from 1. Returns its text, or undefined for an unknown position. */
  revoke(position: number): Promise<string | undefined>;
}

export function createChatSteering(client: Client, sessionId: string): ChatSteering {
  return new SessionSteering(client, sessionId);
}

class SessionSteering implements ChatSteering {
  readonly #client: Client;
  readonly #sessionId: string;
  #pending: readonly SteeredMessage[] = [];
  /** Messages whose delivery was reported before the reply to their request was handled. */
  readonly #deliveredIds = new Set<string>();
  #listed: readonly PendingInjection[] | undefined;
  /** The titles of the running tool calls, in the order of their starts. */
  readonly #runningTools = new Map<string, string>();
  /** Resolves when every sent message has its reply. */
  #sending: Promise<unknown> = Promise.resolve();

  constructor(client: Client, sessionId: string) {
    this.#client = client;
    this.#sessionId = sessionId;
  }

  get pending(): readonly SteeredMessage[] {
    return this.#pending;
  }

  send(text: string, mode: SteeredMessage["mode"]): Promise<InjectResult> {
    const sending = this.#inject(text, mode);
    this.#sending = Promise.allSettled([this.#sending, sending]);
    return sending;
  }

  async #inject(text: string, mode: SteeredMessage["mode"]): Promise<InjectResult> {
    const message: SteeredMessage = { text, mode, accepted: undefined };
    this.#pending = [...this.#pending, message];
    try {
      const accepted = await this.#client.inject(this.#sessionId, { content: text, mode });
      if (this.#deliveredIds.delete(accepted.messageId)) this.#remove(message);
      else this.#replace(message, { ...message, accepted });
      return accepted;
    } catch (error) {
      this.#remove(message);
      throw error;
    }
  }

  async skipTool(): Promise<string | undefined> {
    const [toolCallId, title] = [...this.#runningTools].at(-1) ?? [];
    if (toolCallId === undefined) return undefined;
    const status = await this.#client.cancelToolCall(this.#sessionId, toolCallId);
    return status === "not_found" ? undefined : title;
  }

  update(update: SessionUpdate): void {
    if (update.type === "tool") return this.#updateTool(update);
    if (update.type !== "user-text" || update.messageId === null) return;
    const { messageId } = update;
    const delivered = this.#pending.find(({ accepted }) => accepted?.messageId === messageId);
    if (delivered !== undefined) this.#remove(delivered);
    else if (this.#pending.some(({ accepted }) => accepted === undefined))
      this.#deliveredIds.add(messageId);
  }

  #updateTool({ toolCallId, title, status }: ToolUpdate): void {
    if (status === "completed" || status === "failed") this.#runningTools.delete(toolCallId);
    else {
      const known = this.#runningTools.get(toolCallId) ?? toolCallId;
      this.#runningTools.set(toolCallId, title ?? known);
    }
  }

  async recall(): Promise<readonly string[]> {
    const recalled: string[] = [];
    await this.#sending;
    for (const message of this.#pending) {
      const { accepted, text } = message;
      if (accepted === undefined) continue;
      this.#remove(message);
      if (await this.#tryRevoke(accepted.messageId)) recalled.push(text);
    }
    return recalled;
  }

  async list(): Promise<readonly PendingInjection[]> {
    this.#listed = await this.#client.pendingInjections(this.#sessionId);
    return this.#listed;
  }

  async replace(position: number, text: string): Promise<"replaced" | "unknown" | "reminder"> {
    const entry = await this.#find(position);
    if (entry === undefined) return "unknown";
    if (entry.kind === "reminder") return "reminder";
    const { messageId } = entry;
    await this.#client.replaceInject(this.#sessionId, messageId, text);
    const message = this.#pending.find(({ accepted }) => accepted?.messageId === messageId);
    if (message !== undefined) this.#replace(message, { ...message, text });
    return "replaced";
  }

  async #find(position: number): Promise<PendingInjection | undefined> {
    return (this.#listed ?? (await this.list()))[position - 1];
  }

  async revoke(position: number): Promise<string | undefined> {
    const entry = await this.#find(position);
    if (entry === undefined) return undefined;
    if (entry.kind === "reminder") {
      await this.#client.revokeReminder(this.#sessionId, entry.reminderId);
      return entry.body;
    }
    await this.#client.revokeInject(this.#sessionId, entry.messageId);
    this.#pending = this.#pending.filter(({ accepted }) => accepted?.messageId !== entry.messageId);
    return entry.text;
  }

  /** Returns false if the agent already has the message. */
  async #tryRevoke(messageId: string): Promise<boolean> {
    try {
      await this.#client.revokeInject(this.#sessionId, messageId);
      return true;
    } catch {
      return false;
    }
  }

  #replace(message: SteeredMessage, next: SteeredMessage): void {
    this.#pending = this.#pending.map((entry) => (entry === message ? next : entry));
  }

  #remove(message: SteeredMessage): void {
    this.#pending = this.#pending.filter((entry) => entry !== message);
  }
}
