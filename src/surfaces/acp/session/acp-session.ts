import { toJsonText } from "../../../data/json.ts";
import type { ClientMcpServer } from "../../../domain/client-tools.ts";
import type { Failure } from "../../../domain/errors.ts";
import type { ApprovalRequested } from "../../../domain/events/approval-events.ts";
import type { CommandReply, SessionCommand } from "../../../domain/session-command.ts";
import { encodeError, encodeFailure } from "../../../wire/acp/encode/encode-failure.ts";
import type { ArgumentsRequest } from "../../../wire/acp/decode/approval-arguments.ts";
import type { PromptCommand } from "../../../wire/acp/decode/client-request.ts";
import type { AcpSessionUpdate } from "../../../wire/acp/encode/acp-session-update.ts";
import type { UpdateCursor } from "../../../wire/acp/encode/update-cursor.ts";
import { showInTerminal } from "../../../wire/acp/encode/acp-session-update.ts";
import type { RequestId, RpcRequest, RpcResponse } from "../../../wire/jsonrpc/rpc-message.ts";
import { cancelPrompts } from "./cancel-prompts.ts";
import {
  createClientAttachment,
  type AttachCommand,
  type ClientAttachment,
} from "./client-attachment.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { createHostRequestRunner, type HostRequestRunner } from "../host/host-request-runner.ts";
import {
  createPendingPrompts,
  type PendingPrompts,
  type PromptCancellation,
} from "./pending-prompts.ts";
import { createPendingPermissions, type PendingPermissions } from "./pending-permissions.ts";
import {
  createConnectionClientTools,
  type ConnectionClientTools,
} from "./connection-client-tools.ts";
import { createIdleNotices, type IdleNotice, type IdleNotices } from "./idle-notices.ts";
import { encodeIdle, encodeWatchdogStop } from "../../../wire/acp/encode/host-notifications.ts";
import { readPromptOutcome } from "./read-prompt-outcome.ts";
import {
  createSessionFeed,
  type DeliveredOutput,
  type FollowOptions,
  type SessionFeed,
} from "./session-feed.ts";

/** A session on the connection of a client. */
export interface AcpSession {
  readonly isFollowing: boolean;
  /** Sequence number of the last event whose updates were sent. */
  readonly sentSeq: number;
  /**
   * Whether this connection sends the client every update after this cursor. Without a cursor: every update from now
   * on.
   */
  isFollowingFrom(cursor?: UpdateCursor): boolean;
  /** Delays further updates until the returned function is called, so that a response is sent first. */
  pauseFeed(): () => void;
  /** Sends the slash commands. With `if-changed`, only if the commands differ from the last update. */
  sendCommands(update: AcpSessionUpdate, when?: "if-changed"): void;
  /** Whether the client is attached, under any client id. */
  readonly isAttached: boolean;
  handlePermissionResponse(approval: ApprovalRequested, answer: RpcResponse): Promise<void>;
  readArguments(request: ArgumentsRequest): object;
  /** Attaches implicitly under the connection's client id. */
  attach(): Promise<CommandReply>;
  /** Attaches under the client id of the command. */
  attachAs(command: AttachCommand): Promise<CommandReply>;
  /** Attaches again without the rights of a stock client, because the client uses the bridge protocol. */
  declareHost(): Promise<void>;
  /** Sets the client tools: these MCP servers and the tools of the client's machine. */
  setClientTools(servers?: readonly ClientMcpServer[]): Promise<void>;
  /** Requests the skills of the client's machine again if they have changed and no turn runs. */
  refreshSkills(): Promise<void>;
  isController(): Promise<boolean>;
  /**
   * Sends a command under the client's current id in this session. Commands with the same `commandId` are accepted once
   * and get the same reply.
   */
  command(sessionCommand: SessionCommand, commandId?: string): Promise<CommandReply>;
  /** Detaches a client, which may be this client. */
  detach(command: DetachCommand): Promise<CommandReply>;
  /** Sends the client all updates. Resolves when the history is sent. A second call starts again. */
  follow(options: FollowOptions): Promise<void>;
  /** Submits a prompt. Prompts with the same `commandId` are accepted once and get the same result. */
  prompt(request: RpcRequest, command: PromptCommand, commandId?: string): Promise<void>;
  /**
   * Cancels all prompts of this client, or only the prompt of this request. If the client has no prompts and no request
   * id is passed, cancels the running turn. Resolves with the failure if a cancellation is refused.
   */
  cancel(requestId?: RequestId): Promise<Failure | undefined>;
  /**
   * Closes the session for this client: cancels the client's prompts, and the running turn if no other client follows
   * the session.
   */
  close(): Promise<void>;
  /** Detaches the client. The session, its turns and its approvals stay. */
  disconnect(reason: string): Promise<void>;
}

type AcceptedReply = Extract<CommandReply, { readonly status: "accepted" }>;
type DetachCommand = Extract<SessionCommand, { readonly type: "detach" }>;

/** The connection of the client, as far as this session depends on it. */
export interface SessionConnection {
  /** Called when the client is no longer attached, at its own request or by another client. */
  onDetached(): void;
  /** Whether the client has no other session on this connection. */
  isOnlySession(): boolean;
}

export function createAcpSession(
  sessionId: string,
  shared: ClientLink,
  connection: SessionConnection,
): AcpSession {
  return new ClientSession(sessionId, shared, connection);
}

class ClientSession implements AcpSession {
  readonly #sessionId: string;
  readonly #link: ClientLink;
  readonly #connection: SessionConnection;
  readonly #attachment: ClientAttachment;
  readonly #prompts: PendingPrompts;
  readonly #permissions: PendingPermissions;
  readonly #clientTools: ConnectionClientTools;
  readonly #hostRequests: HostRequestRunner;
  readonly #feed: SessionFeed;
  readonly #idleNotices: IdleNotices;
  /** Whether the client has closed the session and reads no updates: then only responses are sent. */
  #isMuted = false;
  /** The last slash commands sent, as JSON. */
  #sentCommands: string | undefined;

  constructor(sessionId: string, shared: ClientLink, connection: SessionConnection) {
    this.#sessionId = sessionId;
    this.#connection = connection;
    this.#attachment = createClientAttachment(sessionId, shared, () => this.#clientTools.resend());
    this.#link = this.#createLink(shared);
    this.#prompts = createPendingPrompts(this.#link);
    this.#permissions = createPendingPermissions(sessionId, this.#link);
    this.#clientTools = createConnectionClientTools(sessionId, this.#link);
    this.#hostRequests = createHostRequestRunner(sessionId, this.#link);
    this.#idleNotices = createIdleNotices(shared.clock, (notice) => this.#sendIdle(notice));
    this.#feed = createSessionFeed(sessionId, this.#link, {
      hostRequests: this.#hostRequests,
      clientTools: this.#clientTools,
      attachment: this.#attachment,
      deliver: (output, cursor) => this.#deliver(output, cursor),
      onEnded: () => this.#handleDetached(),
      onLost: (error) => this.#handleLostFeed(error),
    });
  }

  get isFollowing(): boolean {
    return this.#feed.isActive;
  }

  get sentSeq(): number {
    return this.#feed.seq;
  }

  get isAttached(): boolean {
    return this.#attachment.isAttached;
  }

  isFollowingFrom(cursor?: UpdateCursor): boolean {
    return this.#feed.isActive && (cursor === undefined || this.#feed.covers(cursor));
  }

  pauseFeed(): () => void {
    return this.#feed.pause();
  }

  sendCommands(update: AcpSessionUpdate, when?: "if-changed"): void {
    const text = toJsonText(update);
    if (when !== "if-changed" || text !== this.#sentCommands)
      this.#link.sendUpdate(this.#sessionId, update);
    this.#sentCommands = text;
  }

  handlePermissionResponse(approval: ApprovalRequested, answer: RpcResponse): Promise<void> {
    return this.#permissions.handleResponse(approval, answer);
  }

  readArguments(request: ArgumentsRequest): object {
    return this.#permissions.readArguments(request);
  }

  attach(): Promise<CommandReply> {
    return this.#attachment.attach();
  }

  attachAs(command: AttachCommand): Promise<CommandReply> {
    return this.#attachment.attachAs(command);
  }

  declareHost(): Promise<void> {
    return this.#attachment.declareHost();
  }

  setClientTools(servers?: readonly ClientMcpServer[]): Promise<void> {
    return this.#clientTools.set(servers);
  }

  refreshSkills(): Promise<void> {
    return this.#clientTools.refreshSkills();
  }

  async isController(): Promise<boolean> {
    const { clients } = await this.#link.sessions.status(this.#sessionId);
    const { clientId } = this.#link.sender;
    return clients.some((client) => client.clientId === clientId && client.role === "controller");
  }

  command(sessionCommand: SessionCommand, commandId?: string): Promise<CommandReply> {
    const sender = { ...this.#link.sender, ...nameCommand(commandId) };
    return this.#link.sessions.command(this.#sessionId, sessionCommand, sender);
  }

  async detach(command: DetachCommand): Promise<CommandReply> {
    const reply = await this.command(command);
    if (reply.status === "accepted" && command.clientId === this.#link.sender.clientId)
      this.#handleDetached();
    return reply;
  }

  follow(options: FollowOptions): Promise<void> {
    return this.#feed.start(options);
  }

  async prompt(request: RpcRequest, command: PromptCommand, commandId?: string): Promise<void> {
    // The turn uses the skills which the client announced before the prompt.
    await this.#clientTools.refreshSkills();
    const deliveredSeq = this.#feed.seq;
    const reply = await this.#prompts.submit(request, () => this.command(command, commandId));
    if (reply.status === "accepted") await this.#replayOutcome(reply, deliveredSeq);
  }

  async cancel(requestId?: RequestId): Promise<Failure | undefined> {
    const cancellations = this.#prompts.listCancellations(requestId);
    const anyTurn: PromptCancellation = { command: { type: "cancel" }, from: this.#link.sender };
    return this.#cancelPrompts(
      cancellations.length > 0 || requestId !== undefined ? cancellations : [anyTurn],
    );
  }

  async close(): Promise<void> {
    this.#isMuted = this.#link.dropSession(this.#sessionId);
    const refusal = await this.#cancelPrompts(this.#prompts.listCancellations());
    // Does not wait for a turn the client is not allowed to cancel.
    if (refusal === undefined) await this.#prompts.waitUntilEmpty();
    this.#stopFeed();
    this.#prompts.failAll(encodeFailure(CLIENT_LEFT));
    await this.#cancelPrompts([
      { command: { type: "cancel", unlessWatched: true }, from: this.#link.sender },
    ]);
    await this.#attachment.detach("client_closed");
  }

  async disconnect(reason: string): Promise<void> {
    this.#stopFeed();
    this.#prompts.clear();
    await this.#attachment.detach(reason);
  }

  /** The link of this session: its sender is the client as attached here, its capacity is this session's capacity. */
  #createLink(shared: ClientLink): ClientLink {
    const sessionId = this.#sessionId;
    const attachment = this.#attachment;
    return {
      ...shared,
      get sender() {
        return attachment.sender;
      },
      hasCapacity: () => this.#isMuted || shared.hasCapacity(sessionId),
      waitForCapacity: () => shared.waitForCapacity(sessionId),
    };
  }

  #deliver(output: DeliveredOutput, cursor: string | undefined): void {
    if (this.#isMuted && (output.type === "update" || output.type === "event")) return;
    switch (output.type) {
      case "update":
        return this.#link.sendUpdate(
          this.#sessionId,
          showInTerminal(output.update, this.#hostRequests.findTerminal),
          cursor,
        );
      case "event":
        return this.#link.sendEvent(this.#sessionId, output.update, cursor);
      case "ask":
        return this.#permissions.request(output);
      case "decided":
        return this.#permissions.withdraw(output.approvalId);
      case "begun":
        return this.#prompts.markStarted(output.promptId, output.turnId);
      case "answer":
        return this.#prompts.finish(output.promptId, output.outcome);
      case "daemon":
        return this.#idleNotices.restart(output.daemon);
      case "daemon-stopped": {
        const { method, params } = encodeWatchdogStop(output, this.#sessionId);
        return this.#link.sendNotification(this.#sessionId, method, params);
      }
    }
  }

  /** Stock clients do not know this notification. A client without capacity misses it. */
  #sendIdle(notice: IdleNotice): void {
    if (!this.#link.getProfile().isBridgeHost || !this.#link.hasCapacity()) return;
    const { method, params } = encodeIdle(
      notice,
      this.#connection.isOnlySession() ? undefined : this.#sessionId,
    );
    this.#link.sendNotification(this.#sessionId, method, params);
  }

  /** Stops sending updates and responds to the client's open prompts with an error. */
  #handleDetached(): void {
    this.#attachment.forget();
    this.#stopFeed();
    this.#link.dropSession(this.#sessionId);
    this.#prompts.failAll(encodeFailure(CLIENT_LEFT));
    this.#connection.onDetached();
  }

  #handleLostFeed(error: unknown): void {
    this.#idleNotices.stop();
    const facts = { sessionId: this.#sessionId, error: String(error) };
    this.#link.log("a session can no longer be followed", facts);
    this.#prompts.failAll(encodeError(error));
  }

  /** Stops the feed, the host tasks and the permission requests of this client. Their replies are no longer needed. */
  #stopFeed(): void {
    this.#feed.stop();
    this.#idleNotices.stop();
    this.#hostRequests.stopAll();
    this.#permissions.withdrawAll();
  }

  /**
   * A repeated prompt may refer to events sent before the request. The feed does not send them again, so the outcome is
   * read from the log.
   */
  async #replayOutcome({ promptId, seq: from }: AcceptedReply, upTo: number): Promise<void> {
    if (promptId === undefined || from === undefined || from > upTo) return;
    const span = { sessionId: this.#sessionId, promptId, from, upTo };
    const outcome = await readPromptOutcome(this.#link, span);
    if (outcome !== undefined) this.#prompts.finish(promptId, outcome);
  }

  #cancelPrompts(cancellations: readonly PromptCancellation[]): Promise<Failure | undefined> {
    return cancelPrompts(cancellations, {
      link: this.#link,
      sessionId: this.#sessionId,
      signal: this.#feed.signal,
    });
  }
}

const CLIENT_LEFT: Failure = {
  code: "aborted",
  message:
    "This client has left the session; its turn continues. Load the session to see the result",
  details: {},
};

/** The id of a command, separate from the ids of other surfaces. */
function nameCommand(commandId: string | undefined): { readonly commandId?: string } {
  return commandId === undefined ? {} : { commandId: `acp:${commandId}` };
}
