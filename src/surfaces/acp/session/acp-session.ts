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

/** A session on one client's connection. */
export interface AcpSession {
  readonly isFollowing: boolean;
  /** The last event whose updates were sent. */
  readonly sentSeq: number;
  /** Whether the client is sent, on this connection, every update after this cursor. Default: every update from now on. */
  isFollowingFrom(cursor?: UpdateCursor): boolean;
  readonly pauseFeed: SessionFeed["pause"];
  /** Sends the slash commands, also if they are the same as before unless `if-changed`. */
  sendCommands(update: AcpSessionUpdate, when?: "if-changed"): void;
  /** Whether the client is attached, under whatever name. */
  readonly isAttached: boolean;
  readonly handlePermissionResponse: PendingPermissions["handleResponse"];
  readonly readArguments: PendingPermissions["readArguments"];
  readonly attach: ClientAttachment["attach"];
  readonly attachAs: ClientAttachment["attachAs"];
  readonly declareHost: ClientAttachment["declareHost"];
  /** Brings what the client has along: these servers, and the tools of its machine. */
  readonly setClientTools: ConnectionClientTools["set"];
  isController(): Promise<boolean>;
  /** As the client that it is here. */
  command(sessionCommand: SessionCommand): Promise<CommandReply>;
  /** Ends the stay of a client, which may be this one. */
  detach(command: DetachCommand): Promise<CommandReply>;
  /** Tells the client everything; resolves when it has what was there before. Called again, it begins again. */
  follow(options: FollowOptions): Promise<void>;
  /** Under an id of the client's it is taken once, and has the same answer however often it is asked. */
  prompt(request: RpcRequest, command: PromptCommand, commandId?: string): Promise<void>;
  /**
   * Cancels the prompts of this client, or the one that this request submitted; if the client has none, the running turn.
   * Resolves with the reason if that is refused.
   */
  cancel(requestId?: RequestId): Promise<Failure | undefined>;
  /** The client is done with it: what it began ends, and what nobody else follows. */
  close(): Promise<void>;
  /** The client goes; the session and what it waits for stay. */
  disconnect(reason: string): Promise<void>;
}

type AcceptedReply = Extract<CommandReply, { readonly status: "accepted" }>;
type DetachCommand = Extract<SessionCommand, { readonly type: "detach" }>;

/** `gone` is called when the client is no longer attached, by its own word or by another's. */
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
  /** Whether the client is done with the session, and reads nothing of it: then only answers are kept. */
  let isMuted = false;
  /** As JSON. */
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

  /** The client is told no more, and whoever waits for an answer of its has it now. */
  function handleDetached(): void {
    attachment.forget();
    stopFeed();
    link.dropSession(sessionId);
    prompts.failAll(encodeFailure(CLIENT_LEFT));
    onDetached();
  }

  /** What the client is at for the session, or was asked, it is at for nobody. */
  function stopFeed(): void {
    feed.stop();
    hostRequests.stopAll();
    permissions.withdrawAll();
  }

  const command = (requested: SessionCommand): Promise<CommandReply> =>
    link.sessions.command(sessionId, requested, link.sender);

  /** What the client was told of before it asked is not told again, so its answer has to be looked for. */
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
      // A turn that it may not end is not waited for.
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
    "This client has left the session; its turn goes on. Load the session to see what came of it",
  details: {},
};
