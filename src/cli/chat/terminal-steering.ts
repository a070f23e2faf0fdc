import { toSingleLine } from "../../inspect/trace-style.ts";
import type { ChatView } from "./chat-view.ts";
import type { ConnectionNotes } from "./connection-notes.ts";
import type { ChatSession } from "./session.ts";
import type { SteeredMessage } from "./steering.ts";
import { formatError } from "./turn-end-notes.ts";

interface SteeredChat {
  readonly session: ChatSession | undefined;
  readonly link: Pick<ConnectionNotes, "isLost">;
  readonly view: ChatView;
}

/**
 * Sends a message to the running turn or to the queue of the session. Without a turn, without a connection, and for
 * commands of the bridge, the text is a prompt: the chat sends it when no turn runs.
 */
export function sendText(chat: SteeredChat, text: string, mode: SteeredMessage["mode"]): void {
  const { session, link, view } = chat;
  if (session === undefined) return;
  if (!session.isBusy || link.isLost || text.startsWith("/")) return session.submit(text);
  void steer(session, view, { text, mode }).finally(() => view.refresh());
}

async function steer(
  { steering }: ChatSession,
  { note, style }: ChatView,
  { text, mode }: Pick<SteeredMessage, "text" | "mode">,
): Promise<void> {
  try {
    const { deliveredAs } = await steering.send(text, mode);
    if (mode === "steer" && deliveredAs === "queue") note(NO_POINT_LEFT, style.warn);
  } catch (error) {
    note(`Not sent: ${toSingleLine(text)}`);
    note(formatError(error), style.bad);
  }
}

const NO_POINT_LEFT =
  "The running turn accepts no more messages. This message starts the next turn.";

export async function revokePending(
  { view }: Pick<SteeredChat, "view">,
  { steering }: ChatSession,
  typedPosition: string,
): Promise<void> {
  const text = await steering.revoke(Number(typedPosition));
  if (text === undefined)
    return view.reply(`/pending has no entry ${toSingleLine(typedPosition)}.`, view.style.warn);
  view.reply(`Revoked: ${toSingleLine(text)}`);
  view.refresh();
}

/** `argument`: the position in `/pending`, and the new text. */
export async function editPending(
  { view }: Pick<SteeredChat, "view">,
  { steering }: ChatSession,
  argument: string,
): Promise<void> {
  const [, position = "", text = ""] = /^(\d+)\s+([^]*)$/.exec(argument) ?? [];
  if (text === "")
    return view.reply("/edit needs a number and a text: /edit N TEXT", view.style.warn);
  const outcome = await steering.replace(Number(position), text);
  if (outcome === "unknown")
    return view.reply(`/pending has no entry ${toSingleLine(position)}.`, view.style.warn);
  if (outcome === "reminder")
    return view.reply(
      `Entry ${position} is a reminder. Revoke it, and add another.`,
      view.style.warn,
    );
  view.reply(`Changed: ${toSingleLine(text)}`);
  view.refresh();
}

export async function skipTool(
  { reply, style }: ChatView,
  { steering }: ChatSession,
): Promise<void> {
  const title = await steering.skipTool();
  if (title === undefined) return reply("No tool call is running.", style.warn);
  reply(`Stopped: ${toSingleLine(title)}`);
}

/** Revokes all undelivered messages before a cancel. Otherwise the first of them would start the next turn. */
export async function clearQueue(view: ChatView, session: ChatSession): Promise<void> {
  const recalled = await session.steering.recall();
  const cleared = [...recalled, ...session.clearQueue()];
  if (cleared.length > 0)
    view.note(`Not sent: ${cleared.map(toSingleLine).join(" · ")}`, view.style.warn);
  view.refresh();
}
