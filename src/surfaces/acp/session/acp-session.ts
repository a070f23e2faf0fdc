import { toJsonText } from "../../../data/json.ts";
import type { Failure } from "../../../domain/errors.ts";
import type { CommandReply, SessionCommand } from "../../../domain/session-command.ts";
import { encodeError, encodeFailure } from "../../../wire/acp/encode/encode-failure.ts";
import type { PromptCommand } from "../../../wire/acp/decode/client-request.ts";
import type { AcpSessionUpdate } from "../../../wire/acp/encode/acp-session-update.ts";
import type { UpdateCursor } from "../../../wire/acp/encode/update-cursor.ts";
import { showInTerminal } from "../../../wire/acp/encode/acp-session-update.ts";
import type { RequestId, RpcRequest } from "../../../wire/jsonrpc/rpc-message.ts";
import { cancelPrompts } from "./cancel-prompts.ts";
import { createClientAttachment, type ClientAttachment } from "./client-attachment.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { createHostRequestRunner } from "../host/host-request-runner.ts";
import { createPendingPrompts, type PromptCancellation } from "./pending-prompts.ts";
import { createPendingPermissions, type PendingPermissions } from "./pending-permissions.ts";
import {
  createConnectionClientTools,
  type ConnectionClientTools,
} from "./connection-client-tools.ts";
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
  readonly pauseFeed: SessionFeed["pause"];
  /** Sends the slash commands. With `if-changed`, only if the commands differ from the last update. */
  sendCommands(update: AcpSessionUpdate, when?: "if-changed"): void;
  /** Whether the client is attached, under any client id. */
  readonly isAttached: boolean;
  readonly handlePermissionResponse: PendingPermissions["handleResponse"];
  readonly readArguments: PendingPermissions["readArguments"];
  readonly attach: ClientAttachment["attach"];
  readonly attachAs: ClientAttachment["attachAs"];
  readonly declareHost: ClientAttachment["declareHost"];
  /** Sets the client tools: these MCP servers and the tools of the client's machine. */
  readonly setClientTools: ConnectionClientTools["set"];
  isController(): Promise<boolean>;
  /** Sends a command under the client's current id in this session. */
  command(sessionCommand: SessionCommand): Promise<CommandReply>;
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

/** `onDetached` is called when the client is no longer attached, at its own request or by another client. */
export function createAcpSession(
  sessionId: string,
  shared: ClientLink,
  onDetached: () => void,
): AcpSession {
  const attachment = createClientAttachment(sessionId, shared, () => clientTools.resend());
  const link: ClientLink = {
    ...shared,
    get sender() {
      return attachment.sender;
    },
    hasCapacity: () => isMuted || shared.hasCapacity(sessionId),
    waitForCapacity: () => shared.waitForCapacity(sessionId),
  };
  /** Whether the client has closed the session and reads no updates: then only responses are sent. */
  let isMuted = false;
  /** The last slash commands sent, as JSON. */
  let sentCommands: string | undefined;
  const prompts = createPendingPrompts(link);
  const permissions = createPendingPermissions(sessionId, link);
  const clientTools = createConnectionClientTools(sessionId, link);
  const hostRequests = createHostRequestRunner(sessionId, link);
  const feed = createSessionFeed(sessionId, link, {
    hostRequests,
    attachment,
    deliver,
    onEnded: handleDetached,
    onLost(error) {
      link.log("a session can no longer be followed", { sessionId, error: String(error) });
      prompts.failAll(encodeError(error));
    },
  });

  function deliver(output: DeliveredOutput, cursor: string | undefined): void {
    if (isMuted && (output.type === "update" || output.type === "event")) return;
    switch (output.type) {
      case "update":
        return link.sendUpdate(
          sessionId,
          showInTerminal(output.update, hostRequests.findTerminal),
          cursor,
        );
      case "event":
        return link.sendEvent(sessionId, output.update, cursor);
      case "ask":
        return permissions.request(output);
      case "decided":
        return permissions.withdraw(output.approvalId);
      case "begun":
        return prompts.markStarted(output.promptId, output.turnId);
      case "answer":
        return prompts.finish(output.promptId, output.outcome);
    }
  }

  /** Stops sending updates and responds to the client's open prompts with an error. */
  function handleDetached(): void {
    attachment.forget();
    stopFeed();
    link.dropSession(sessionId);
    prompts.failAll(encodeFailure(CLIENT_LEFT));
    onDetached();
  }

  /** Stops the feed, the host tasks and the permission requests of this client. Their replies are no longer needed. */
  function stopFeed(): void {
    feed.stop();
    hostRequests.stopAll();
    permissions.withdrawAll();
  }

  const command = (requested: SessionCommand): Promise<CommandReply> =>
    link.sessions.command(sessionId, requested, link.sender);

  /**
   * A repeated prompt may refer to events sent before the request. The feed does not send them again, so the outcome is
   * read from the log.
   */
  async function replayOutcome(
    { promptId, seq: from }: AcceptedReply,
    upTo: number,
  ): Promise<void> {
    if (promptId === undefined || from === undefined || from > upTo) return;
    const outcome = await readPromptOutcome(link, { sessionId, promptId, from, upTo });
    if (outcome !== undefined) prompts.finish(promptId, outcome);
  }

  const cancel = (requested: readonly PromptCancellation[]): Promise<Failure | undefined> =>
    cancelPrompts(requested, { link, sessionId, signal: feed.signal });

  return {
    get isFollowing() {
      return feed.isActive;
    },
    get sentSeq() {
      return feed.seq;
    },
    isFollowingFrom: (cursor) => feed.isActive && (cursor === undefined || feed.covers(cursor)),
    pauseFeed: feed.pause,
    sendCommands(update, when) {
      const text = toJsonText(update);
      if (when !== "if-changed" || text !== sentCommands) link.sendUpdate(sessionId, update);
      sentCommands = text;
    },
    get isAttached() {
      return attachment.isAttached;
    },
    handlePermissionResponse: permissions.handleResponse,
    readArguments: permissions.readArguments,
    attach: attachment.attach,
    attachAs: attachment.attachAs,
    declareHost: attachment.declareHost,
    setClientTools: clientTools.set,
    async isController() {
      const { clients } = await link.sessions.status(sessionId);
      const { clientId } = link.sender;
      return clients.some((client) => client.clientId === clientId && client.role === "controller");
    },
    command,
    async detach(requested) {
      const reply = await command(requested);
      if (reply.status === "accepted" && requested.clientId === link.sender.clientId)
        handleDetached();
      return reply;
    },
    follow: feed.start,
    async prompt(request, requested, commandId) {
      const deliveredSeq = feed.seq;
      const named = commandId === undefined ? {} : { commandId: `acp:${commandId}` };
      const reply = await prompts.submit(request, () =>
        link.sessions.command(sessionId, requested, { ...link.sender, ...named }),
      );
      if (reply.status === "accepted") await replayOutcome(reply, deliveredSeq);
    },
    async cancel(requestId) {
      const cancellations = prompts.listCancellations(requestId);
      const anyTurn: PromptCancellation = { command: { type: "cancel" }, from: link.sender };
      return cancel(
        cancellations.length > 0 || requestId !== undefined ? cancellations : [anyTurn],
      );
    },
    async close() {
      isMuted = link.dropSession(sessionId);
      // Does not wait for a turn the client is not allowed to cancel.
      if ((await cancel(prompts.listCancellations())) === undefined) await prompts.waitUntilEmpty();
      stopFeed();
      prompts.failAll(encodeFailure(CLIENT_LEFT));
      await cancel([{ command: { type: "cancel", unlessWatched: true }, from: link.sender }]);
      await attachment.detach("client_closed");
    },
    async disconnect(reason) {
      stopFeed();
      prompts.clear();
      await attachment.detach(reason);
    },
  };
}

const CLIENT_LEFT: Failure = {
  code: "aborted",
  message:
    "This client has left the session; its turn continues. Load the session to see the result",
  details: {},
};
