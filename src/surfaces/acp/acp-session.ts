import type { Failure } from "../../domain/errors.ts";
import type { CommandReply, SessionCommand } from "../../domain/session-command.ts";
import { failureError } from "../../wire/acp/failure-error.ts";
import type { PromptCommand } from "../../wire/acp/client-request.ts";
import { withTerminal } from "../../wire/acp/host/terminal-content.ts";
import { internalError } from "../../wire/jsonrpc/rpc-error.ts";
import type { RequestId, RpcRequest } from "../../wire/jsonrpc/rpc-message.ts";
import { cancelAll } from "./cancel-all.ts";
import { clientAttachment, type ClientAttachment } from "./client-attachment.ts";
import type { ClientLink } from "./client-link.ts";
import { hostCalls } from "./host-calls.ts";
import { openPrompts, type Cancelling } from "./open-prompts.ts";
import { openQuestions, type OpenQuestions } from "./open-questions.ts";
import { ownEquipment, type OwnEquipment } from "./own-equipment.ts";
import { pastAnswer } from "./past-answer.ts";
import { sessionFeed, type FollowOptions, type Told } from "./session-feed.ts";

/** A session on one client's connection. */
export interface AcpSession {
  readonly isFollowed: boolean;
  /** Whether the client is attached, under whatever name. */
  readonly isAttached: boolean;
  readonly answered: OpenQuestions["answered"];
  readonly readArguments: OpenQuestions["readArguments"];
  readonly attach: ClientAttachment["attach"];
  readonly attachAs: ClientAttachment["attachAs"];
  readonly declareHost: ClientAttachment["declareHost"];
  /** Brings what the client has along: these servers, and the tools of its machine. */
  readonly equip: OwnEquipment["bring"];
  isController(): Promise<boolean>;
  /** As the client that it is here. */
  command(wanted: SessionCommand): Promise<CommandReply>;
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
  leave(reason: string): Promise<void>;
}

type Accepted = Extract<CommandReply, { readonly status: "accepted" }>;
type DetachCommand = Extract<SessionCommand, { readonly type: "detach" }>;

/** `gone` is called when the client is no longer attached, by its own word or by another's. */
export function createAcpSession(
  sessionId: string,
  shared: ClientLink,
  gone: () => void,
): AcpSession {
  const attachment = clientAttachment(sessionId, shared, () => equipment.again());
  const link: ClientLink = {
    ...shared,
    get sender() {
      return attachment.sender;
    },
    hasRoom: () => isUnheard || shared.hasRoom(sessionId),
    room: () => shared.room(sessionId),
  };
  /** Whether the client is done with the session, and reads nothing of it: then only answers are kept. */
  let isUnheard = false;
  const prompts = openPrompts(link);
  const questions = openQuestions(sessionId, link);
  const equipment = ownEquipment(sessionId, link);
  const calls = hostCalls(sessionId, link);
  const feed = sessionFeed(sessionId, link, {
    calls,
    tell,
    isOwnStay: attachment.isOwnStay,
    isEndedBy: attachment.isEndedBy,
    ended,
    lost(error) {
      link.log("a session can no longer be followed", { sessionId, error: String(error) });
      prompts.fail(internalError("The session can no longer be followed"));
    },
  });

  function tell(output: Told, cursor: string | undefined): void {
    if (isUnheard && (output.type === "update" || output.type === "event")) return;
    switch (output.type) {
      case "update":
        return link.update(sessionId, withTerminal(output.update, calls.terminalOf), cursor);
      case "event":
        return link.event(sessionId, output.update, cursor);
      case "ask":
        return questions.ask(output);
      case "decided":
        return questions.decided(output.approvalId);
      case "begun":
        return prompts.begun(output.promptId, output.turnId);
      case "answer":
        return prompts.finish(output.promptId, output.outcome);
    }
  }

  /** The client is told no more, and whoever waits for an answer of its has it now. */
  function ended(): void {
    attachment.forget();
    leaveFeed();
    link.drop(sessionId);
    prompts.fail(failureError(LEFT));
    gone();
  }

  /** What the client is at for the session, or was asked, it is at for nobody. */
  function leaveFeed(): void {
    feed.end();
    calls.end();
    questions.end();
  }

  const command = (wanted: SessionCommand): Promise<CommandReply> =>
    link.sessions.command(sessionId, wanted, link.sender);

  /** What the client was told of before it asked is not told again, so its answer has to be looked for. */
  async function answerAgain({ promptId, seq: from }: Accepted, upTo: number): Promise<void> {
    if (promptId === undefined || from === undefined || from > upTo) return;
    const outcome = await pastAnswer(link, { sessionId, promptId, from, upTo });
    if (outcome !== undefined) prompts.finish(promptId, outcome);
  }

  const cancel = (wanted: readonly Cancelling[]): Promise<Failure | undefined> =>
    cancelAll(wanted, { link, sessionId, signal: feed.signal });

  return {
    get isFollowed() {
      return feed.isOn;
    },
    get isAttached() {
      return attachment.isAttached;
    },
    answered: questions.answered,
    readArguments: questions.readArguments,
    attach: attachment.attach,
    attachAs: attachment.attachAs,
    declareHost: attachment.declareHost,
    equip: equipment.bring,
    async isController() {
      const { clients } = await link.sessions.peek(sessionId);
      const { clientId } = link.sender;
      return clients.some((one) => one.clientId === clientId && one.mode === "controller");
    },
    command,
    async detach(wanted) {
      const reply = await command(wanted);
      if (reply.status === "accepted" && wanted.clientId === link.sender.clientId) ended();
      return reply;
    },
    follow: feed.begin,
    async prompt(request, wanted, commandId) {
      const told = feed.seq;
      const named = commandId === undefined ? {} : { commandId: `acp:${commandId}` };
      const reply = await prompts.begin(request, () =>
        link.sessions.command(sessionId, wanted, { ...link.sender, ...named }),
      );
      if (reply.status === "accepted") await answerAgain(reply, told);
    },
    async cancel(requestId) {
      const own = prompts.cancelling(requestId);
      const any: Cancelling = { command: { type: "cancel" }, from: link.sender };
      return cancel(own.length > 0 || requestId !== undefined ? own : [any]);
    },
    async close() {
      isUnheard = link.drop(sessionId);
      // A turn that it may not end is not waited for.
      if ((await cancel(prompts.cancelling())) === undefined) await prompts.answered();
      leaveFeed();
      prompts.fail(failureError(LEFT));
      await cancel([{ command: { type: "cancel", unlessWatched: true }, from: link.sender }]);
      await attachment.detach("client_closed");
    },
    async leave(reason) {
      leaveFeed();
      prompts.drop();
      await attachment.detach(reason);
    },
  };
}

const LEFT: Failure = {
  code: "aborted",
  message:
    "This client has left the session; its turn goes on. Load the session to see what came of it",
  details: {},
};
